package textfmt

import (
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
)

// A survey collects what has to be known about functions before they are printed.
type survey struct {
	printed idSet // symbols that have been surveyed
	callees idSet // symbols that are called or inlined
	inlined idSet
	cursor  afdo.Cursor
	records int64 // limit on the records and call targets still to come
	names   int64 // limit on the bytes of names still to come
}

// Limits on the size of a text. They affect files whose symbols share the bytes of one function, or
// whose tries spell the same bytes repeatedly.
const (
	minRecordSize    = 2 // size of the smallest record or call target
	textFree         = 1 << 30
	textBytesPerByte = 1 << 10 // 10 to 20 in real files; hundreds for a single deeply inlined body, because of indentation and names
)

// maxText returns the maximum size of the text for a file of the given size.
func maxText(size int64) int64 {
	return textFree + textBytesPerByte*min(size, (math.MaxInt64-textFree)/textBytesPerByte)
}

func newSurvey(size int64) *survey {
	return &survey{
		printed: make(idSet),
		callees: make(idSet),
		inlined: make(idSet),
		records: size / minRecordSize,
		names:   maxText(size),
	}
}

func (s *survey) symbols(symbols iter.Seq2[afdo.Symbol, error]) error {
	for symbol, err := range symbols {
		if err != nil {
			return err
		}
		if err := s.symbol(symbol); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) symbol(symbol afdo.Symbol) error {
	if err := checkName(symbol.Name()); err != nil {
		return err
	}
	if s.names -= int64(len(symbol.Name())); s.names < 0 {
		return fmt.Errorf("textfmt: the names of the symbols are too long: %w", fault.ErrLimit)
	}
	s.printed.add(symbol.ID())
	if !symbol.HasInfo() {
		return nil
	}
	info, err := symbol.Info()
	if err == nil {
		err = s.function(info)
	}
	if err != nil {
		return inSymbol(symbol, err)
	}
	return nil
}

func (s *survey) function(info afdo.Info) error {
	c := &s.cursor
	c.Reset(info)
	for c.Next() {
		s.records--
		if l := c.Location(); l.Type == afdo.LocationInlinedFn {
			s.callees.add(l.Callee)
			s.inlined.add(l.Callee)
		}
		for t := range c.Targets() {
			s.records--
			s.callees.add(t.Callee)
		}
		if s.records < 0 {
			return fmt.Errorf("more records than the file has room for: %w", fault.ErrLimit)
		}
	}
	return c.Err()
}

// missing returns the callees that were not surveyed themselves, in ascending order.
func (s *survey) missing() []afdo.SymbolID {
	var ids []afdo.SymbolID
	for word, callees := range s.callees {
		for i := range afdo.SymbolID(64) {
			if (callees&^s.printed[word])>>i&1 != 0 {
				ids = append(ids, word<<6|i)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// An idSet is a set of symbol IDs, 64 per map entry. IDs are usually close together (format note
// 9), but may be anywhere.
type idSet map[afdo.SymbolID]uint64

func (s idSet) has(id afdo.SymbolID) bool { return s[id>>6]>>(id&63)&1 != 0 }

func (s idSet) add(id afdo.SymbolID) {
	if !s.has(id) {
		s[id>>6] |= 1 << (id & 63)
	}
}

// boundedWriter fails if more than a given number of bytes is written.
type boundedWriter struct {
	w    io.Writer
	left int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("textfmt: the text is too long for a file of its size: %w", fault.ErrLimit)
	}
	return b.w.Write(p)
}

// An idTable assigns a number to symbol IDs. IDs are usually close together, starting with 0
// (format note 9), but may be anywhere. IDs that are small compared to their number have a slot in
// an array; others are in a map.
type idTable struct {
	dense  []uint32 // numbers by ID, plus 1; 0 for none
	sparse map[uint32]uint32
	len    int
}

// Maximum number of array slots per ID, and initial number of slots.
const (
	denseShare = 8
	firstDense = 1 << 10
)

// find returns the number of an ID.
func (t *idTable) find(id uint32) (number uint32, ok bool) {
	if uint64(id) < uint64(len(t.dense)) {
		n := t.dense[id]
		return n - 1, n > 0
	}
	n, ok := t.sparse[id]
	return n, ok
}

// add assigns a number to an ID that has none.
func (t *idTable) add(id, number uint32) {
	if t.len++; denseShare*t.len >= 2*len(t.dense) {
		t.grow()
	}
	if uint64(id) < uint64(len(t.dense)) {
		t.dense[id] = number + 1
		return
	}
	if t.sparse == nil {
		t.sparse = make(map[uint32]uint32)
	}
	t.sparse[id] = number
}

// grow enlarges the array, and moves IDs from the map to it.
func (t *idTable) grow() {
	t.dense = append(t.dense, make([]uint32, max(len(t.dense), firstDense))...)
	for id, number := range t.sparse {
		if uint64(id) < uint64(len(t.dense)) {
			t.dense[id] = number + 1
			delete(t.sparse, id)
		}
	}
}

// each calls do for every ID, in no particular order.
func (t *idTable) each(do func(id, number uint32)) {
	for id, n := range t.dense {
		if n > 0 {
			do(uint32(id), n-1)
		}
	}
	for id, number := range t.sparse {
		do(id, number)
	}
}
