package afdo_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/textfmt"
)

// words returns the little-endian encoding of 64-bit words.
func words(list ...uint64) []byte {
	var data []byte
	for _, w := range list {
		for range 8 {
			data = append(data, byte(w))
			w >>= 8
		}
	}
	return data
}

// samplesOf reads a text recording and returns the error.
func samplesOf(text string) error {
	_, _, err := samples.Read(strings.NewReader(text), nil, samples.Options{})
	return err
}

// The errors of all formats have the same type, with the class and the place of the fault.
func TestOneFamilyOfErrors(t *testing.T) {
	notELF := filepath.Join(t.TempDir(), "binary")
	require.NoError(t, os.WriteFile(notELF, []byte("no binary at all"), 0o600))
	for name, c := range map[string]struct {
		err   func() error
		class error
		want  afdo.FormatError // without class and detail
		text  string           // how it begins
	}{
		"version 4": {
			func() error { _, err := afdo.OpenBytes([]byte("gcov\x00\x00\x00\x04")); return err }, afdo.ErrHeader,
			afdo.FormatError{Format: "afdo", Section: -1, Part: "header", Offset: 8}, "afdo: header at offset 8: bad header: ",
		},
		"version 3": {
			func() error { _, err := gcov.ParseBytes([]byte("adcg\x03")); return err }, afdo.ErrTruncated,
			afdo.FormatError{Format: "gcov", Section: -1, Offset: 5}, "gcov: at offset 5: truncated section: ",
		},
		"text": {
			func() error { _, err := textfmt.Parse(strings.NewReader("filenames = [")); return err }, afdo.ErrSyntax,
			afdo.FormatError{Format: "textfmt", Section: -1, Offset: -1, Line: 1, Column: 13}, "textfmt: line 1, column 13: bad syntax: ",
		},
		"samples of LLVM": {
			func() error { _, err := sampleprof.OpenBytes([]byte("no samples")); return err }, afdo.ErrMagic,
			afdo.FormatError{Format: "sampleprof", Section: -1, Part: "header"}, "sampleprof: header at offset 0: not a sample profile of LLVM: ",
		},
		"text of LLVM": {
			func() error { _, err := sampleprof.ParseTextBytes([]byte("main:1:1\n 1: x\n")); return err }, afdo.ErrSyntax,
			afdo.FormatError{Format: "sampleprof", Section: -1, Offset: -1, Line: 2, Column: 5}, "sampleprof: line 2, column 5: bad syntax: ",
		},
		"instrumentation": {
			func() error { _, err := instrprof.OpenBytes([]byte("no counters")); return err }, afdo.ErrMagic,
			afdo.FormatError{Format: "instrprof", Section: -1, Part: "header"}, "instrprof: header at offset 0: not an instrumentation profile of LLVM: ",
		},
		"memory": {
			func() error { _, err := memprof.OpenBytes(words(3, 1), 100); return err }, afdo.ErrTruncated,
			afdo.FormatError{Format: "memprof", Section: -1, Part: "header", Offset: 116}, "memprof: header at offset 116: truncated section: ",
		},
		"YAML": {
			func() error { _, err := memprof.ParseYAML(strings.NewReader("x")); return err }, afdo.ErrSyntax,
			afdo.FormatError{Format: "memprof", Section: -1, Offset: 1, Line: 1, Column: 2}, "memprof: line 1, column 2: bad syntax: ",
		},
		"perf.data": {
			func() error { _, err := perfdata.NewReader(strings.NewReader("PERFFILE")); return err }, afdo.ErrMagic,
			afdo.FormatError{Format: "perf.data", Section: -1}, "perf.data: at offset 0: not a perf.data file: ",
		},
		"callgrind": {
			func() error { return samplesOf("version: 1\npositions: line\n") }, afdo.ErrSyntax,
			afdo.FormatError{Format: "callgrind", Section: -1, Offset: 11, Line: 2, Column: 1}, "callgrind: line 2, column 1: bad syntax: ",
		},
		"ELF": {
			func() error { _, err := symbolize.Open(notELF); return err }, symbolize.ErrELF,
			afdo.FormatError{Format: "symbolize", File: notELF, Section: -1}, "symbolize: " + notELF + ": at offset 0: bad ELF file: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.err()
			require.ErrorIs(t, err, afdo.ErrMalformed)
			require.ErrorIs(t, err, c.class)
			var found *afdo.FormatError
			require.ErrorAs(t, err, &found)
			require.NotEmpty(t, found.Detail)
			c.want.Err, c.want.Detail = found.Err, found.Detail
			assert.Equal(t, c.want, *found)
			assert.True(t, strings.HasPrefix(err.Error(), c.text), "%v", err)
		})
	}
}

// All formats return the same type of error for a version that they do not support. It does not
// match ErrMalformed.
func TestOneErrorOfVersions(t *testing.T) {
	for name, c := range map[string]struct {
		err  func() error
		want afdo.VersionError // without its detail
	}{
		"afdo": {func() error { _, err := afdo.OpenBytes([]byte("gcda\x00\x00\x00\x03")); return err }, afdo.VersionError{Kind: "gcda", Version: 3}},
		"gcov": {func() error { _, err := gcov.ParseBytes([]byte("adcg\x01\x00\x00\x00\x00\x00\x00\x00")); return err }, afdo.VersionError{Kind: "adcg", Version: 1}},
		"sampleprof": {func() error {
			_, err := sampleprof.OpenBytes(binary.AppendUvarint(binary.AppendUvarint(nil, 0x5350524f46343204), 106))
			return err
		}, afdo.VersionError{Version: 106}},
		"instrprof": {func() error { _, err := instrprof.OpenBytes(append([]byte(instrprof.Magic), words(99)...)); return err }, afdo.VersionError{Kind: "indexed", Version: 99}},
		"memprof":   {func() error { _, err := memprof.OpenBytes(words(99), 0); return err }, afdo.VersionError{Version: 99}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.err()
			require.ErrorIs(t, err, afdo.ErrVersion)
			require.NotErrorIs(t, err, afdo.ErrMalformed)
			var found *afdo.VersionError
			require.ErrorAs(t, err, &found)
			require.NotEmpty(t, found.Detail)
			c.want.Format, c.want.Detail = name, found.Detail
			assert.Equal(t, c.want, *found)
		})
	}
}
