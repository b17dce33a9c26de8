package instrprofkind

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fault"
)

// memorySections is the sum of the MemProf sections of indexed files, which are profiles of their
// own.
type memorySections struct {
	n   int
	sum memprof.Profile
}

// add adds the section of a file the given number of times, if the file has one.
func (m *memorySections) add(p *anyprof.Profile, times uint64) error {
	r, ok := p.Model().(*instrprof.Reader)
	if !ok {
		return nil
	}
	src, err := anyprof.Memory(r)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	m.n++
	return m.sum.Merge(src, times)
}

// tell prints what a format could not hold.
func (m *memorySections) tell(e *cli.Env, format string, version uint32) {
	if m.n > 0 && format == formatIndexed && version < kind.IndexedMemory {
		format = fmt.Sprintf("%s of version %d", format, version)
	} else if m.n == 0 || format != formatText {
		return
	}
	e.Warnf("%s does not store everything: MemProf sections that were left out: %d", format, m.n)
}
