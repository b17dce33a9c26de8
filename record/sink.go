package record

import "github.com/go-afdo/afdo/perfdata"

// A sink writes what the rings hold, counts it, and notes which files were mapped.
type sink struct {
	writer *perfdata.Writer
	report *Report
	files  map[perfdata.BuildID]bool // files whose code was mapped, by path and build ID
}

func newSink(w *perfdata.Writer) *sink {
	return &sink{writer: w, report: new(Report), files: make(map[perfdata.BuildID]bool)}
}

// take takes a record of a ring.
func (s *sink) take(record []byte) error {
	decoded, err := s.writer.Copy(record)
	switch r := decoded.(type) {
	case *perfdata.Sample:
		s.report.Samples++
		if len(r.Branches) > 0 {
			s.report.Stacks++
		}
	case *perfdata.Lost:
		s.report.Lost += r.Count
	case *perfdata.Throttle:
		s.report.Throttled++
	case *perfdata.Mmap:
		s.note(r)
	}
	return err
}

// add adds what the kernel does not tell, because it was so before the recording began.
func (s *sink) add(record perfdata.Record) error {
	if m, ok := record.(*perfdata.Mmap); ok {
		s.note(m)
	}
	return s.writer.Write(record)
}

func (s *sink) note(m *perfdata.Mmap) {
	if m.Executable {
		s.files[perfdata.BuildID{Path: m.Path, ID: m.BuildID}] = true
	}
}

// drain takes what some rings hold.
func (s *sink) drain(rings []*ring) error {
	for _, r := range rings {
		if err := r.drain(s.take); err != nil {
			return err
		}
	}
	return nil
}

// round takes what all rings hold, and marks that.
func (s *sink) round(rings []*ring) error {
	if err := s.drain(rings); err != nil {
		return err
	}
	return s.writer.FinishRound()
}
