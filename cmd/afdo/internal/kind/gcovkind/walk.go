package gcovkind

import (
	"fmt"
	"io"
	"math"

	"github.com/go-afdo/afdo"

	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A walker steps through the functions of a file, as far as the budget of the file goes.
type walker struct {
	cursor  afdo.Cursor
	budget  *budget.Budget
	unknown uint64
}

func newWalker(r *afdo.Reader) *walker {
	return &walker{budget: budget.New(r.Size())}
}

// units calls visit for each unit of a file.
func (w *walker) units(r *afdo.Reader, visit func(*afdo.Unit) error) error {
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		if err := visit(u); err != nil {
			return err
		}
	}
	return w.budget.End(r)
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
		if err := w.budget.Name(s.Name()); err != nil {
			return err
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
	if err := w.budget.Samples(info); err != nil {
		return err
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

// A function is the samples of a symbol and a cursor before the first record. It lasts as long as
// the visit.
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

// boundedWriter fails when more is written than any real file could give, which takes names shared
// a thousandfold.
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
