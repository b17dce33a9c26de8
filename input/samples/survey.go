package samples

import (
	"debug/elf"
	"io"
	"io/fs"
	"runtime"
	"time"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Survey describes the content of a recording of perf, such as the number of its events, samples
// and processes. Making one does not need the program that was recorded.
type Survey struct {
	Report    *Report // of the event that create would use; without a binary, no sample is in it
	Events    int     // in the recording
	Samples   uint64  // of all events
	Throttled uint64  // number of times that the kernel paused an event
	Processes int     // with samples
	Duration  time.Duration
}

// NewSurvey reads a perf.data file to its end. If none of its events counts execution, it returns
// the survey together with an error that matches [ErrNoEvent].
func NewSurvey(in io.Reader) (*Survey, error) {
	r, err := perfdata.NewReader(in)
	if err != nil {
		return nil, err
	}
	return survey(r)
}

// SurveyFolder does the same as [NewSurvey] for a folder that perf record --threads has written.
func SurveyFolder(dir fs.FS) (*Survey, error) {
	r, err := perfdata.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return survey(r)
}

func survey(r *perfdata.Reader) (*Survey, error) {
	machine := elf.EM_NONE
	if runtime.GOARCH == "amd64" {
		machine = elf.EM_X86_64 // most recordings are of this kind of machine
	}
	p := newPerfCollector(choice{binary: &Binary{Layout: new(Layout), machine: machine}}, PerfData)
	p.events = r.Events
	s := new(Survey)
	var first, last uint64
	processes := make(map[int32]bool)
	for record, err := range r.Records() {
		if err == nil {
			err = p.take(record)
		}
		if err != nil {
			return nil, err
		}
		switch record := record.(type) {
		case *perfdata.Sample:
			s.Samples++
			processes[record.PID] = true
			if record.Time > 0 && (first == 0 || record.Time < first) {
				first = record.Time
			}
			last = max(last, record.Time)
		case *perfdata.Throttle:
			s.Throttled = saturating.Add(s.Throttled, 1)
		}
	}
	s.Events, s.Processes, s.Duration = len(r.Events()), len(processes), time.Duration(last-first)
	var err error
	_, s.Report, err = p.finish()
	return s, err
}
