package anyprof_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/format/anyprof"
)

func TestDetect(t *testing.T) {
	for head, want := range map[string]anyprof.Format{
		"gcov\x00\x00\x00\x04":                     anyprof.V4,
		"gcov":                                     anyprof.V4, // cut, which is the reader's business
		"adcg\x03\x00\x00\x00\x00\x00\x00\x00":     anyprof.V3,
		"adcg\x02\x00\x00\x00\x00\x00\x00\x00":     anyprof.V2,
		"gcda\x00\x00\x00\x03\x00\x00\x00\x00":     anyprof.V3,
		"gcda\x00\x00\x00\x02\x00\x00\x00\x00":     anyprof.V2,
		"adcg\x01\x00\x00\x00\x00\x00\x00\x00":     anyprof.V3, // of a version that the reader refuses
		"adcg\x03\x00\x00":                         anyprof.V3,
		"adcg*22B\x01\x02\x03\x04":                 anyprof.GCDA,
		"gcdaA83*\x01\x02\x03\x04":                 anyprof.GCDA,
		"adcg*704\x01\x02\x03\x04\x00\x00\x00\x01": anyprof.GCDA, // of a version that the reader refuses
		"filenames = {":                            anyprof.Text,
		" \t\r\n\v\ffilenames\n= {":                anyprof.Text,
		"extension_2={}":                           anyprof.Text,
		"\"main\":0(1:0:0) = {}":                   anyprof.Text,
		strings.Repeat("\n", anyprof.HeadLen):      anyprof.Text,
		"main:12:3\n 1: 2":                         anyprof.SampleText,
		"# a comment\nmain:12:3\n":                 anyprof.SampleText,
		"gcov_exit:12:3\n 1: 2":                    anyprof.SampleText,
		"gcda_open:12:3\n 1: 2":                    anyprof.SampleText,
		"a=b:12:3\n 1: 2":                          anyprof.SampleText,
		"\"f:12:3\n 1: 2":                          anyprof.SampleText,
		"gcov_exit\n1\n1\n1\n":                     anyprof.ProfText,
		"a=b\n1\n1\n1\n":                           anyprof.ProfText,
		"HeapProfileRecords:f\n1\n1\n1\n":          anyprof.ProfText,
		"\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53g":    anyprof.ExtBinary,
		"\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53g":    anyprof.ExtBinary,
		"\xfflprofi\x81":                           anyprof.ProfData,
		"\x81rforpl\xff":                           anyprof.ProfRaw,
		":ir\nmain\n1\n1\n1\n":                     anyprof.ProfText,
		"main\n1\n1\n1\n":                          anyprof.ProfText,
		"\x81rforpm\xff":                           anyprof.MemProfRaw,
		"---\nHeapProfileRecords:\n":               anyprof.MemProfYAML,
	} {
		got, err := anyprof.Detect([]byte(head))
		assert.NoError(t, err, "%q", head)
		assert.Equal(t, want.String(), got.String(), "%q", head)
	}
	for head, want := range map[string]string{
		"":                                          "it is empty",
		"  \n":                                      "it is empty",
		"\x7fELF\x02\x01":                           "it is an ELF file",
		"PERFILE2....":                              `it is a recording of perf, from which "afdo create" makes profiles`,
		"# callgrind format\nversion: 1\n":          `it is a recording of callgrind, from which "afdo create" makes profiles`,
		"version: 1\ncreator: callgrind-3":          `it is a recording of callgrind, from which "afdo create" makes profiles`,
		"0\n2\n1080:1\n108a:2\n":                    `it is a text of address samples, from which "afdo create" makes profiles`,
		"2\n8d0-8e3:8794\n":                         `it is a text of address samples, from which "afdo create" makes profiles`,
		"PERF_RECORD_MMAP2 1/1: [0x5":               `it is text of perf script, from which "afdo create" makes profiles`,
		" words 25932/25932 12.345678:  1 c":        `it is text of perf script, from which "afdo create" makes profiles`,
		" a b 25932 [002] 12.345678:  1 c":          `it is text of perf script, from which "afdo create" makes profiles`,
		"\n\x04\x08\x01\x10\x02\n\x04\x08\x03":      `it is a recording of pprof, from which "afdo create" makes profiles`,
		"\n\x04\x12\x02\x12\x00\x12\x00":            `it is a profile of OpenTelemetry, from which "afdo create" makes profiles`,
		"\x00\x00\x00\x06\n\x04\n\x02\n\x00":        `it is a profile of OpenTelemetry, from which "afdo create" makes profiles`,
		"2\x002\asamples2\x05count":                 `it is a recording of pprof, from which "afdo create" makes profiles`,
		"H\xae\x2f\n\x04\b\x01\x10\x02":             `it is a recording of pprof, from which "afdo create" makes profiles`,
		"Z\x04\b\x01\x10\x02`\x80\x80 \n\x02\b\x03": `it is a recording of pprof, from which "afdo create" makes profiles`,
		"\n\x04\x08\x01\x20\x02":                    `it begins with "\n\x04\b\x01 \x02"`,
		"\n\nno profile":                            `it begins with "\n\nno profile"`,
		"H\xae":                                     `it begins with "H\xae"`,
		"2\x00 no profile":                          `it begins with "2\x00 no profile"`,
		"12:30 no profile":                          `it begins with "12:30 no profile"`,
		"no profile, and more of that":              `it begins with "no profile, and "`,
		"adcg*704\x00\x00\x00\x00\x00\x00\x00\xaa":  `it is a sample profile in LLVM's old format "adcg*704": llvm-profdata merge --sample --extbinary makes one of it that is read`,
	} {
		got, err := anyprof.Detect([]byte(head))
		assert.Zero(t, got, "%q", head)
		assert.ErrorIs(t, err, anyprof.ErrUnknown)
		assert.EqualError(t, err, "not a profile: "+want, "%q", head)
	}
}
