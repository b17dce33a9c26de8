package record

import "github.com/go-afdo/afdo/internal/perfdata"

// A sink writes the records of a recording, counts them, and collects the names of the mapped
// files.
type sink struct {
	writer *perfdata.Writer
	report *Report
	files  map[perfdata.BuildID]bool // files with mapped code, by path and build ID
	builds map[string]string         // build IDs by path
}

func newSink(w *perfdata.Writer) *sink {
	return &sink{writer: w, report: new(Report), files: make(map[perfdata.BuildID]bool), builds: make(map[string]string)}
}

// take writes a record that the kernel or a tracer has encoded, and adds it to the counts.
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

// add writes a record that this package has created.
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

// drain writes all records that are in the given ring buffers to the recording.
func (s *sink) drain(rings []*ring) error {
	for _, r := range rings {
		if err := r.drain(s.take); err != nil {
			return err
		}
	}
	return nil
}

// round writes the records in all ring buffers, and then a record that marks the end of this round.
// perf.data needs such marks to sort records by time: see perfdata.Reader.Ordered.
func (s *sink) round(rings []*ring) error {
	if err := s.drain(rings); err != nil {
		return err
	}
	return s.writer.FinishRound()
}
