package samples_test

import (
	"bytes"
	"debug/elf"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
)

// Report.Effort is the sum of the statistics of all recorders by steps in a recording. A thread
// whose name only begins like the record with the statistics is ignored.
func TestEffort(t *testing.T) {
	said := func(text string) *perfdata.Comm {
		return &perfdata.Comm{PID: 9, TID: 9, Time: 3, Name: perfdata.StepsReport + text}
	}
	file := tinySteps()
	file.Records = append(file.Records, said(`{"Moments":7,"Stops":3,"Dropped":1,"Duration":5}`), said(`{"Moments":-7,"Stops":3}`), said(`{"Moments":3`),
		said("x"), said(`{"Moments":18446744073709551615,"Sampled":2}`))
	want := samples.Effort{Moments: 1<<64 - 1, Stops: 3, Dropped: 1, Sampled: 2}
	for _, file.Pipe = range []bool{false, true} {
		survey, err := samples.NewSurvey(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		assert.Equal(t, want, survey.Report.Effort)
		_, r, err := samples.Read(bytes.NewReader(file.Bytes()), plain(t, "ours", elf.ET_DYN), samples.Options{})
		require.NoError(t, err)
		assert.Equal(t, want, r.Effort)
		both := *r
		both.Add(r)
		assert.Equal(t, samples.Effort{Moments: 1<<64 - 1, Stops: 6, Dropped: 2, Sampled: 4}, both.Effort)
	}
}

// tinySteps returns a recording by steps with one sample in the program.
func tinySteps() *perfgen.File {
	event := perfgen.Event{SampleType: perfgen.IP | perfgen.TID | perfgen.Time, SampleIDAll: true}
	return &perfgen.File{Events: []perfgen.Event{event}, Records: []any{
		&perfdata.Mmap{PID: 1, TID: 1, Time: 1, Start: 0x401000, Length: 0x1000, PageOffset: 0x5000, Executable: true, Path: "/bin/ours"},
		&perfdata.Sample{PID: 1, TID: 1, Time: 2, IP: 0x401010},
	}}
}

// Report.BurstsWithin counts each burst with a sample in the binary once, however many samples the
// burst has.
func TestBurstsWithin(t *testing.T) {
	const in = `PERF_RECORD_MMAP2 5/5: [0x401000(0x1000) @ 0x5000 fe:00 1 2]: r-xp /bin/ours
a     5 1.000000000: steps:u:    401010 0x401020/0x401000/-/-/-/0 0x401030/0x401008/-/-/-/0
a     5 1.000010000: steps:u:    401010 0x401020/0x401000/-/-/-/0 0x401030/0x401008/-/-/-/0
a     5 1.001000000: steps:u:    7f0000001000 0x7f0000002000/0x7f0000001000/-/-/-/0
a     5 1.001010000: steps:u:    401010 0x401020/0x401000/-/-/-/0 0x401030/0x401008/-/-/-/0
a     5 1.002000000: steps:u:    7f0000001000 0x7f0000002000/0x7f0000001000/-/-/-/0
`
	_, r, err := samples.Read(strings.NewReader(in), plain(t, "ours", elf.ET_DYN), samples.Options{})
	require.NoError(t, err)
	assert.Equal(t, [3]uint64{5, 3, 2}, [3]uint64{r.Samples, r.Bursts, r.BurstsWithin})
}
