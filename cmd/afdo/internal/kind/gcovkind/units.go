package gcovkind

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// UnitFacts describes a unit, in the form of its JSON.
type UnitFacts struct {
	Unit       string `json:"unit"`                  // path of the unit
	UnitBase64 string `json:"unit_base64,omitempty"` // the path in base64 if it is not UTF-8, which JSON cannot hold
	Symbols    uint64 `json:"symbols"`
	Functions  uint64 `json:"functions"`
	Samples    uint64 `json:"samples"`
}

// Units returns the facts about each unit of a GCOV profile, in the order of the file.
func Units(in *Input) ([]UnitFacts, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	return unitsOf(r)
}

// UnitsOf returns the facts about each unit of a profile in memory.
func UnitsOf(p *profile.Profile) []UnitFacts {
	units := []UnitFacts{}
	for i, u := range rank.New(p).Units {
		f := newUnitFacts(p.UnitPath(profile.UnitRef(i)))
		f.Symbols, f.Functions, f.Samples = uint64(u.Symbols), uint64(u.Functions), u.Body
		units = append(units, f)
	}
	return units
}

func newUnitFacts(path string) UnitFacts {
	return UnitFacts{Unit: path, UnitBase64: jsonstream.Base64(path)}
}

// unitsOf reads a file unit by unit, and returns the facts about each unit in the order of the
// file.
func unitsOf(r *afdo.Reader) ([]UnitFacts, error) {
	units := []UnitFacts{}
	w := newWalker(r)
	err := w.units(r, func(u *afdo.Unit) error {
		f := newUnitFacts(u.Path())
		err := w.symbols(u, func(_ afdo.Symbol, body *function) error {
			f.Symbols++
			if body != nil {
				f.Functions++
				f.Samples = saturating.Add(f.Samples, body.samples())
			}
			return nil
		})
		units = append(units, f)
		return err
	})
	return units, err
}

// UnitBytes returns, for each unit of the profile p, the size in bytes of its sections in a
// version 4 file. The index of the result is a profile.UnitRef of p. r reads the version 4 file
// from which p was read. If r is nil, because p comes from a file of another format, UnitBytes
// writes p as version 4 in memory and returns the sizes in that.
func UnitBytes(p *profile.Profile, r *afdo.Reader) (_ []int64, err error) {
	if r == nil {
		if r, err = readerOf(p); err != nil {
			return nil, err
		}
	}
	files := make(map[string]int, p.NumUnits())
	for i := range p.NumUnits() {
		files[p.UnitPath(profile.UnitRef(i))] = i
	}
	bytes := make([]int64, p.NumUnits())
	w := newWalker(r)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		n := &bytes[files[u.Path()]]
		stringTable, symbolNames := u.SectionIndexes()
		for _, index := range []int{stringTable, symbolNames} {
			s, err := r.Section(index)
			if err != nil {
				return nil, err
			}
			*n += s.Size
		}
		err := w.symbols(u, func(_ afdo.Symbol, f *function) error {
			if f != nil {
				*n += f.Section().Size
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return bytes, nil
}

// WithoutUnits returns a profile as version 2 would store it. That version has no units, so
// functions of the same name are added up.
func WithoutUnits(p *profile.Profile) (*profile.Profile, error) {
	var file bytes.Buffer
	if _, err := gcov.Write(&file, p, gcov.WriteOptions{Version: 2, ByteOrder: binary.LittleEndian}); err != nil {
		return nil, err
	}
	return gcov.ParseBytes(file.Bytes())
}

// A walker visits the units, symbols and functions of a version 4 file. It stops with an error if
// decoding would take far more than a file of this size needs.
type walker struct {
	cursor  afdo.Cursor
	budget  *budget.Budget
	unknown uint64
}

func newWalker(r *afdo.Reader) *walker {
	return &walker{budget: budget.New(r.Size())}
}

// units calls visit for each unit of a file, in the order of the file.
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

// symbols calls visit for each symbol of a unit. visit gets the samples of the symbol, or nil if it
// has none.
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

// symbol calls visit for the symbol s. visit gets the samples of the symbol, or nil if it has none.
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

// A function contains the samples of a symbol, with a cursor before its first record. It is valid
// only during the call of visit that gets it.
type function struct {
	afdo.Info
	*afdo.Cursor
}

// samples returns the sum of all counts of a function, including those of functions inlined in it.
// The sum saturates.
func (f *function) samples() uint64 {
	var sum uint64
	for f.Next() {
		sum = saturating.Add(sum, f.Location().Count)
	}
	return sum
}

// A boundedWriter fails if the output gets larger than that of any real file. A small file that was
// made for this purpose can produce more, because its names can share bytes a thousand times.
type boundedWriter struct {
	w    io.Writer
	left int64
}

const (
	freeOutput    = 1 << 30
	outputPerByte = 1 << 10
)

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("the output would be more than %d times the file: %w", outputPerByte, afdo.ErrLimit)
	}
	return b.w.Write(p)
}
