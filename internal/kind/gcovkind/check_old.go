package gcovkind

import (
	"encoding/binary"
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/kind"
	"github.com/go-afdo/afdo/profile"
)

// Where the summary of a version 3 file has its figures, and how large its entries and a call target are.
const (
	oldHeader       = 12
	oldSummary      = oldHeader + 4
	oldEntries      = oldSummary + 6*8
	oldEntry        = 4 + 8 + 8
	oldEntriesCount = oldEntries - 8
	oldTarget       = 4 + 8 + 8
)

// old checks a file of version 2 or 3.
func (c *checking) old(data []byte) {
	p, err := gcov.Decode(data)
	if err != nil {
		c.refused(err)
		return
	}
	h, _ := gcov.DecodeHeader(data) // Decode has seen to it
	f := oldFile{data: data, order: h.ByteOrder, version: h.Version, pos: oldHeader}
	if h.Version >= 3 {
		f.pos = oldEntries + oldEntry*int(f.counterAt(oldEntriesCount))
	}
	f.names(c)
	if p.Summary != nil {
		c.summary(p.Summary, f.summarize(p.Summary.NumCounts), false, oldSummary)
	}
}

// oldFile steps through a file that has been decoded without an error, as it
// stands: the model adds up what is of one place or symbol.
type oldFile struct {
	data    []byte
	order   binary.ByteOrder
	version uint32
	pos     int
}

// names reports what is wrong with the names. In the table of every writer
// they ascend, each stands once, and the first one is empty; where one stands
// twice, readers find its function by the one or the other.
func (f *oldFile) names(c *checking) {
	f.pos += 8 // tag and length
	if f.version >= 3 {
		for range f.word() {
			f.name()
		}
	}
	seen := make(map[string]bool)
	last, ordered := "", true
	for i := range f.word() {
		pos := int64(f.pos)
		name := f.name()
		if f.version >= 3 {
			f.word()
		}
		p := &kind.Problem{Remark: true, Offset: pos, Class: "bad name table"}
		switch {
		case i == 0 && name != "":
			p.Detail = fmt.Sprintf("name 0 is %.200q, not the empty one", name)
		case seen[name]:
			p.Detail = fmt.Sprintf("name %d, %.200q, stands twice", i, name)
			p.Remark = false
		case name < last && ordered:
			p.Detail = fmt.Sprintf("name %d, %.200q, does not ascend", i, name)
			ordered = false
		}
		if p.Detail != "" {
			c.report(p)
		}
		seen[name], last = true, name
	}
}

// summarize computes the summary of the functions, which follow the names, from their records as they stand. A
// call has to have a count here. Where that is 0, there may have been none:
// found, the number of counts that the summary has, says whether such are counted.
func (f *oldFile) summarize(found uint64) *afdo.Summary {
	f.pos += 8 // tag and length
	functions := f.word()
	head, doubtful := uint64(0), uint64(0)
	var counts profile.Body
	n := uint32(0) // of counts; each gets a line of its own, so that none are merged
	for range functions {
		head = max(head, f.counter())
		f.pos += 8 + 4 // timestamp, name
		for bodies := 1; bodies > 0; bodies-- {
			positions, callSites := f.word(), f.word()
			for range positions {
				f.pos += 4
				targets := f.word()
				count := f.counter()
				counts.Count(n, 0, count)
				f.pos += oldTarget * int(targets)
				n++
				if count == 0 && targets > 0 {
					doubtful++
				}
			}
			bodies += int(callSites)
			if bodies > 1 {
				f.pos += 8 // location and name of the next call site
			}
		}
	}
	p := profile.New()
	p.AddFunction(p.AddSymbol(profile.UnknownFile, ""), profile.Function{HeadCount: head, Records: counts.Records()})
	s := p.Summarize()
	s.NumFunctions = uint64(functions)
	if found < s.NumCounts && found >= s.NumCounts-doubtful {
		s.NumCounts = found
	}
	return s
}

func (f *oldFile) word() uint32 {
	f.pos += 4
	return f.order.Uint32(f.data[f.pos-4:])
}

func (f *oldFile) name() string {
	size := int(f.word())
	f.pos += size
	return string(f.data[f.pos-size : f.pos-1])
}

func (f *oldFile) counter() uint64 {
	f.pos += 8
	return f.counterAt(f.pos - 8)
}

// counterAt returns a counter, of which the low word comes first.
func (f *oldFile) counterAt(pos int) uint64 {
	return uint64(f.order.Uint32(f.data[pos:])) | uint64(f.order.Uint32(f.data[pos+4:]))<<32
}

// summary remarks where a summary does not agree with the data. Where these
// have been merged, a count may have become larger and their number smaller. The first figure
// is at an offset, the others behind it; -1 says that it has no such places.
func (c *checking) summary(found, data *afdo.Summary, merged bool, offset int64) {
	agree := true
	for i, f := range []struct {
		what        string
		found, data uint64
		tolerable   bool
	}{
		{"total count", found.TotalCount, data.TotalCount, false},
		{"maximum count", found.MaxCount, data.MaxCount, found.MaxCount < data.MaxCount},
		{"maximum function count", found.MaxFunctionCount, data.MaxFunctionCount, found.MaxFunctionCount < data.MaxFunctionCount},
		{"number of counts", found.NumCounts, data.NumCounts, found.NumCounts > data.NumCounts},
		{"number of functions", found.NumFunctions, data.NumFunctions, found.NumFunctions > data.NumFunctions},
	} {
		if f.found == f.data {
			continue
		}
		agree = false
		if !merged || !f.tolerable {
			c.disagreement(offset, 8*i, "%s is %d, the data make it %d", f.what, f.found, f.data)
		}
	}
	if agree { // the entries are shares of the total
		c.entries(found.Entries, data.Entries, offset)
	}
}

func (c *checking) entries(found, data []afdo.SummaryEntry, offset int64) {
	cutoffs := make(map[uint32]afdo.SummaryEntry)
	for _, e := range data {
		cutoffs[e.Cutoff] = e
	}
	for i, e := range found {
		if d, ok := cutoffs[e.Cutoff]; ok && d != e {
			c.disagreement(offset, oldEntries-oldSummary+oldEntry*i, "cutoff %d has %d counts from %d up, the data make it %d from %d up",
				e.Cutoff, e.NumCounts, e.MinCount, d.NumCounts, d.MinCount)
		}
	}
}

func (c *checking) disagreement(offset int64, field int, format string, args ...any) {
	if offset >= 0 {
		offset += int64(field)
	}
	c.report(&kind.Problem{Remark: true, Offset: offset, Class: afdo.ErrSummary.Error(), Detail: fmt.Sprintf(format, args...)})
}
