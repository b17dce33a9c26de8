package gcovkind

import (
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A walker steps through the functions of a file. Every byte of a file belongs
// to one section and every section of samples to one symbol, so what a file
// gives is bounded by its size; the walker ends with [afdo.ErrLimit] where symbols
// that share sections or string tables that spell out a thousandfold would make it more.
type walker struct {
	cursor  afdo.Cursor
	names   int64 // how many more bytes of names there may be
	samples int64 // and of sections of samples
	unknown uint64
}

// The limits leave room for files that are merely odd.
const (
	freeSpelled    = 64 << 20
	spelledPerByte = 64
	freeSamples    = 1 << 20
	samplesPerByte = 4
)

func newWalker(r *afdo.Reader) *walker {
	return &walker{names: freeSpelled + spelledPerByte*r.Size(), samples: freeSamples + samplesPerByte*r.Size()}
}

// symbols calls visit for each symbol of a unit, with its samples if it has any.
func (w *walker) symbols(u *afdo.Unit, visit func(afdo.Symbol, *function) error) error {
	if err := u.Load(); err != nil {
		return err
	}
	for s, err := range u.Symbols() {
		if err != nil {
			return err
		}
		if w.names -= int64(len(s.Name())); w.names < 0 {
			return fmt.Errorf("the string tables spell out more than %d times the file: %w", spelledPerByte, afdo.ErrLimit)
		}
		if err := w.symbol(s, visit); err != nil {
			return fmt.Errorf("unit %.200q, symbol %.200q: %w", u.Path(), s.Name(), err)
		}
	}
	return nil
}

// symbol calls visit for one symbol.
func (w *walker) symbol(s afdo.Symbol, visit func(afdo.Symbol, *function) error) error {
	if !s.HasInfo() {
		return visit(s, nil)
	}
	info, err := s.Info()
	if err != nil {
		return err
	}
	if w.samples -= info.Section().Size; w.samples < 0 {
		return fmt.Errorf("too many symbols share the sections of their samples: %w", afdo.ErrLimit)
	}
	w.cursor.Reset(info)
	if err := visit(s, &function{info, &w.cursor}); err != nil {
		return err
	}
	for w.cursor.Next() { // whatever visit left: a fault there is a fault
	}
	w.unknown += w.cursor.Unknown()
	return w.cursor.Err()
}

// A function is the samples of a symbol and a cursor before the first record. It lasts as long as the visit.
type function struct {
	afdo.Info
	*afdo.Cursor
}

// samples returns the saturating sum of the counts of a function and of all that is inlined in it.
func (f *function) samples() uint64 {
	var sum uint64
	for f.Next() {
		sum = saturating.Add(sum, f.Location().Count)
	}
	return sum
}

// boundedWriter fails when more is written than any real file could give, which takes names shared a thousandfold.
type boundedWriter struct {
	w    io.Writer
	left int64
}

const (
	freeOutput    = 1 << 30
	outputPerByte = 1 << 10
)

func boundOutput(w io.Writer, r *afdo.Reader) io.Writer {
	return &boundedWriter{w, freeOutput + outputPerByte*min(r.Size(), math.MaxInt64/outputPerByte/2)}
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("the output would be more than %d times the file: %w", outputPerByte, afdo.ErrLimit)
	}
	return b.w.Write(p)
}
