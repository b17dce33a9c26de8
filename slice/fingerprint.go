package slice

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// Fingerprint returns the key of the slice that [Program.Select] takes: the
// xxhash of what the slice means to the compiler it is for.
//
// Two slices have the same key if that compiler cannot tell them apart,
// whatever the encoding of their profiles, the order of things in them, and the numbers
// these give to symbols. For [Version2] neither files nor timestamps nor the
// summary count, and symbols of one name are one; for [Version3] all of it
// counts, timestamps by their order only. Slices that differ have different keys but for
// one chance in 2^64 a pair; somebody who wants to can make two that do not.
//
// It costs what Select costs.
func (p *Program) Fingerprint(q Request) (uint64, error) {
	s, err := p.choose(q)
	if err != nil {
		return 0, err
	}
	h := hasher{selection: s, target: q.Target, bits: q.Bits, ranks: make(map[symbolID]profile.SymbolRef, len(s.symbols))}
	if err := h.sum(); err != nil {
		return 0, err
	}
	return xxhash.Sum64(h.data), nil
}

// fingerprintForm is hashed first, and changes whenever what follows it does.
const fingerprintForm = "afdo slice 1"

// A hasher writes down what a slice means. That it does so in memory lets it
// be told apart from nothing else: every list has its length before it.
type hasher struct {
	*selection
	target Target
	bits   int

	data  []byte
	ranks map[symbolID]profile.SymbolRef // of the names that count as different ones
	times []uint64                       // the different timestamps, in order
}

func (h *hasher) uint(v uint64) { h.data = binary.AppendUvarint(h.data, v) }

func (h *hasher) string(s string) {
	h.uint(uint64(len(s)))
	h.data = append(h.data, s...)
}

func (h *hasher) sum() error {
	h.string(fingerprintForm)
	h.uint(uint64(h.target))
	if h.target != Version2 {
		if err := h.whole(); err != nil {
			return err
		}
	}
	slices.SortFunc(h.symbols, h.compare)
	groups := h.rank()
	h.uint(uint64(len(groups)))
	var body profile.Body
	for _, group := range groups {
		h.string(group[0].name)
		if h.target != Version2 {
			h.string(h.source.path(group[0].unit))
		}
		h.function(&body, group)
	}
	return nil
}

// whole adds what a slice has of the profile as a whole.
func (h *hasher) whole() error {
	s, err := h.source.summary()
	if err != nil {
		return err
	}
	h.summary(quantizeSummary(s, h.bits))
	files := h.files()
	slices.Sort(files)
	h.uint(uint64(len(files)))
	for _, name := range files {
		h.string(name)
	}
	h.times = append(h.times, 0) // an unknown one stays unknown
	for _, f := range h.samples {
		h.times = append(h.times, f.Timestamp)
	}
	slices.Sort(h.times)
	h.times = slices.Compact(h.times)
	return nil
}

func (h *hasher) summary(s *afdo.Summary) {
	for _, v := range []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions, uint64(len(s.Entries))} {
		h.uint(v)
	}
	for _, e := range s.Entries {
		h.uint(uint64(e.Cutoff))
		h.uint(e.MinCount)
		h.uint(e.NumCounts)
	}
}

// compare orders symbols by name, and by file if that counts.
func (h *hasher) compare(a, b symbol) int {
	if c := strings.Compare(a.name, b.name); c != 0 || h.target == Version2 {
		return c
	}
	return strings.Compare(h.source.path(a.unit), h.source.path(b.unit))
}

// rank numbers the symbols, those that count as one alike, and returns these together.
func (h *hasher) rank() [][]symbol {
	var groups [][]symbol
	for i, rest := 0, h.symbols; len(rest) > 0; i++ {
		n := 1
		for n < len(rest) && h.compare(rest[0], rest[n]) == 0 {
			n++
		}
		for _, sym := range rest[:n] {
			h.ranks[sym.id] = profile.SymbolRef(i)
		}
		groups, rest = append(groups, rest[:n]), rest[n:]
	}
	return groups
}

// function adds the samples of symbols that count as one, or that there are none.
func (h *hasher) function(body *profile.Body, group []symbol) {
	body.Reset()
	var f profile.Function
	for _, sym := range group {
		part := h.samples[sym.id]
		f.HeadCount = saturating.Add(f.HeadCount, quantize(part.HeadCount, h.bits))
		if f.Timestamp == 0 || part.Timestamp != 0 && part.Timestamp < f.Timestamp {
			f.Timestamp = part.Timestamp
		}
		translate(body, part.Records, h.ranks, h.bits)
	}
	f.Records = body.Records()
	if h.target == Version2 {
		f.Timestamp = 0
	}
	if f.HeadCount == 0 && f.Timestamp == 0 && len(f.Records) == 0 { // format note 12
		h.uint(0)
		return
	}
	h.uint(1)
	h.uint(f.HeadCount)
	order, _ := slices.BinarySearch(h.times, f.Timestamp)
	h.uint(uint64(order))
	h.records(f.Records)
}

func (h *hasher) records(records []profile.Record) {
	h.uint(uint64(len(records)))
	for i := range records {
		r := &records[i]
		h.uint(uint64(r.Line)<<2 | uint64(r.Kind))
		h.uint(uint64(r.Discriminator))
		h.uint(uint64(r.Callee))
		h.uint(r.Count)
	}
}
