package instrprofkind

import (
	"bytes"
	"io"

	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/llvm/instrprof"
	"github.com/go-afdo/afdo/llvm/memprof"
)

// memorySections is the sum of the MemProf sections of indexed files, which are profiles of their
// own.
type memorySections struct {
	n   int
	sum memprof.Profile
}

// add adds the section of a file so many times, if it has one, and returns the file, or what reads
// the same.
func (m *memorySections) add(f *input.File, times uint64) (*input.File, error) {
	if detect(f.Head) != anyprof.ProfData || len(f.Head) < 16 || f.Head[15]&0x40 == 0 {
		return f, nil
	}
	again := f
	var r *instrprof.Reader
	var err error
	if f.Path != "" {
		r, err = instrprof.Open(f.Path)
	} else {
		var data []byte
		if data, err = io.ReadAll(f); err != nil {
			return f, err
		}
		if again, err = input.New(f.Name, bytes.NewReader(data)); err != nil {
			return f, err
		}
		r, err = instrprof.OpenBytes(data)
	}
	if err != nil {
		return f, err
	}
	defer r.Close()
	src, err := anyprof.Memory(r)
	if err != nil {
		return f, err
	}
	m.n++
	return again, m.sum.AddTimes(src, times)
}

// section returns the section to write: of version 3, unless only 4 can hold all.
func (m *memorySections) section() (instrprof.Payload, error) {
	version := 3
	if m.sum.Losses(version) != (memprof.Losses{}) {
		version = 4
	}
	return m.sum.Section(version)
}

// tell says what a format could not hold.
func (m *memorySections) tell(e *cli.Env, format string) {
	if m.n > 0 && format == formatText {
		e.Warnf("%s cannot hold everything: MemProf sections that were left out: %d", format, m.n)
	}
}
