package gcov

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// randomProfile returns a profile of unusual names, units and bodies. If clean is set, the profile
// can be written in version 3 without losses.
func randomProfile(rng *rand.Rand, clean bool) *profile.Profile {
	p := profile.New()
	for _, path := range []string{"", "a.c", "a.c/", "b\xff.c", "A.c"} {
		if rng.IntN(4) > 0 {
			p.AddUnit(path)
		}
	}
	names := []string{"a", "aa", "ab", "b", "b.part.0", "_ZN1xC4Ev", "_ZN1xC2Ev", "\x01", "\xff\xfe", " ", "z\"", "main"}
	var symbols []profile.SymbolRef
	for range 1 + rng.IntN(30) {
		i := rng.IntN(len(names))
		symbols = append(symbols, p.AddSymbol(profile.UnitRef(rng.IntN(p.NumUnits())), names[i]))
		if clean {
			names[i] += "'" // no name twice
		}
	}
	for range rng.IntN(12) {
		s := symbols[rng.IntN(len(symbols))]
		if p.Function(s) != nil && clean {
			continue
		}
		f := profile.Function{HeadCount: count(rng), Records: randomBody(rng, p, symbols, clean)}
		if rng.IntN(2) == 0 {
			f.Timestamp = count(rng)
		}
		p.AddFunction(s, f)
	}
	if rng.IntN(2) == 0 {
		p.Summary = &afdo.Summary{TotalCount: rng.Uint64(), MaxCount: 1, NumCounts: count(rng)}
		for range rng.IntN(3) {
			p.Summary.Entries = append(p.Summary.Entries, afdo.SummaryEntry{Cutoff: rng.Uint32(), MinCount: count(rng), NumCounts: 3})
		}
	}
	return p
}

func randomBody(rng *rand.Rand, p *profile.Profile, symbols []profile.SymbolRef, clean bool) []profile.Record {
	var body profile.Body
	depth := 0
	for range rng.IntN(40) {
		line, discriminator := half(rng), half(rng)
		callee := symbols[rng.IntN(len(symbols))]
		kind := rng.IntN(6)
		if rng.IntN(20) == 0 && 2 <= kind && kind <= 4 {
			callee = p.AddSymbol(profile.UnknownUnit, "")
		}
		switch kind {
		case 0, 1:
			body.Count(line, discriminator, count(rng))
		case 2, 3:
			body.Call(line, discriminator, callee, count(rng))
			if clean {
				body.Count(line, discriminator, 0)
			}
		case 4:
			body.Enter(line, discriminator, callee)
			depth++
		case 5:
			if depth > 0 {
				body.Leave()
				depth--
			}
		}
	}
	for range depth {
		body.Leave()
	}
	return body.Records()
}

func half(rng *rand.Rand) uint32 {
	return []uint32{0, 1, 2, 3, 300, math.MaxUint16}[rng.IntN(6)]
}

func count(rng *rand.Rand) uint64 {
	return []uint64{0, 1, 7, 1 << 31, 1 << 32, 1 << 63, math.MaxUint64, rng.Uint64()}[rng.IntN(8)]
}

func TestRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		for seed := range uint64(testenv.Rounds(60, 300)) {
			rng := rand.New(rand.NewPCG(seed, 1))
			p := randomProfile(rng, true)
			data, losses := encode(t, p, o)
			back := decoded(t, data)
			if o.Version == 3 {
				require.Zero(t, losses, "seed %d", seed)
				require.NoError(t, profile.Compare(p, back), "seed %d", seed)
				require.Equal(t, p.NumUnits(), back.NumUnits())
				if p.Summary == nil {
					require.Equal(t, p.Summarize(), back.Summary)
				} else {
					require.Equal(t, p.Summary, back.Summary)
				}
			}
			again, losses := encode(t, back, o)
			requireSameBytes(t, data, again)
			require.Zero(t, losses)
		}
	})
}

// TestLosses writes profiles with contents that the format cannot hold. The contents that are lost,
// and Losses, must be those that the function degrade computes.
func TestLosses(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		for seed := range uint64(testenv.Rounds(60, 300)) {
			p := randomProfile(rand.New(rand.NewPCG(seed, 2)), false)
			want, wantLosses := degrade(p, o.Version)
			data, losses := encode(t, p, o)
			require.NoError(t, profile.Compare(want, decoded(t, data)), "seed %d", seed)
			require.Equal(t, wantLosses, losses, "seed %d", seed)
		}
	})
}

// degrade returns the profile that remains after writing and reading in a version, and the losses.
func degrade(p *profile.Profile, version uint32) (*profile.Profile, Losses) {
	q := profile.New()
	var losses Losses
	symbols := make(map[string]profile.SymbolRef)
	for s := range profile.SymbolRef(p.NumSymbols()) {
		name := p.SymbolName(s)
		if _, ok := symbols[name]; ok {
			losses.Symbols++
			continue
		}
		file := profile.UnknownUnit
		if version == 3 {
			file = q.AddUnit(fileOfName(p, name))
		}
		symbols[name] = q.AddSymbol(file, name)
	}
	if version == 2 {
		losses.Files = p.NumUnits() - 1
		losses.Summary = p.Summary != nil
	}
	stamped := make(map[string]bool)
	for s, f := range p.Functions() {
		g := profile.Function{HeadCount: f.HeadCount, Timestamp: f.Timestamp}
		if version == 2 && g.Timestamp > 0 {
			stamped[p.SymbolName(s)] = true
			g.Timestamp = 0
		}
		var body profile.Body
		depth := 0
		for walk := profile.Walk(f.Records); ; {
			r, d, ok := walk.Next()
			for ; depth > d; depth-- {
				body.Leave()
			}
			if !ok {
				break
			}
			switch r.Kind {
			case profile.KindCount:
				body.Count(r.Line, r.Discriminator, r.Count)
			case profile.KindCall:
				body.Call(r.Line, r.Discriminator, symbols[p.SymbolName(r.Callee)], r.Count)
			case profile.KindInlined:
				body.Enter(r.Line, r.Discriminator, symbols[p.SymbolName(r.Callee)])
				depth++
			}
		}
		g.Records = body.Records()
		q.AddFunction(symbols[p.SymbolName(s)], g)
	}
	losses.Timestamps = len(stamped)
	return withZeroCounts(q, &losses.ZeroCounts), losses
}

// fileOfName returns the path that the file has for a name, given the symbols with this name.
func fileOfName(p *profile.Profile, name string) string {
	for _, mustHaveFunction := range []bool{true, false} {
		best, found := "", false
		for s := range profile.SymbolRef(p.NumSymbols()) {
			if p.SymbolName(s) != name || mustHaveFunction && p.Function(s) == nil {
				continue
			}
			path := p.UnitPath(p.SymbolUnit(s))
			if !found || best == "" || path != "" && path < best {
				best, found = path, true
			}
		}
		if found {
			return best
		}
	}
	panic("no symbol of that name")
}

// withZeroCounts returns a profile with a count of 0 added at each location that has calls but no
// count.
func withZeroCounts(p *profile.Profile, added *int) *profile.Profile {
	q := profile.New()
	for s := range profile.SymbolRef(p.NumSymbols()) {
		q.AddSymbol(q.AddUnit(p.UnitPath(p.SymbolUnit(s))), p.SymbolName(s)) // same numbers
	}
	for s, f := range p.Functions() {
		var body profile.Body
		depth := 0
		numCounts := 0
		for walk := profile.Walk(f.Records); ; {
			r, d, ok := walk.Next()
			for ; depth > d; depth-- {
				body.Leave()
			}
			if !ok {
				break
			}
			switch r.Kind {
			case profile.KindCount:
				body.Count(r.Line, r.Discriminator, r.Count)
				numCounts++
			case profile.KindCall:
				body.Count(r.Line, r.Discriminator, 0)
				body.Call(r.Line, r.Discriminator, r.Callee, r.Count)
			case profile.KindInlined:
				body.Enter(r.Line, r.Discriminator, r.Callee)
				depth++
			}
		}
		records := body.Records()
		for i := range records {
			if records[i].Kind == profile.KindCount {
				*added++
			}
		}
		*added -= numCounts
		q.AddFunction(s, profile.Function{HeadCount: f.HeadCount, Timestamp: f.Timestamp, Records: records})
	}
	return q
}

func TestLossesString(t *testing.T) {
	assert.Empty(t, Losses{}.String())
	assert.Equal(t, "1 source path dropped; 1 symbol merged with another of its name; 1 timestamp dropped; summary dropped; 1 call location without a count got a count of 0; the record of the sources dropped; the counts of machine code dropped",
		Losses{1, 1, 1, true, 1, 0, 0, true, true}.String())
	assert.Equal(t, "20 source paths dropped; 30 symbols merged with others of their name; 40 timestamps dropped; 50 call locations without a count got a count of 0",
		Losses{20, 30, 40, false, 50, 0, 0, false, false}.String())
}

// The bytes of a file do not depend on the order in which symbols, units and records were added to
// the profile.
func TestWriteIsDeterministic(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		for seed := range uint64(testenv.Rounds(30, 100)) {
			rng := rand.New(rand.NewPCG(seed, 3))
			p := randomProfile(rng, false)
			want, losses := encode(t, p, o)
			got, sameLosses := encode(t, shuffled(rng, p), o)
			requireSameBytes(t, want, got)
			require.Equal(t, losses, sameLosses)
		}
	})
}

// shuffled returns an equal profile with other numbers of units and symbols.
func shuffled(rng *rand.Rand, p *profile.Profile) *profile.Profile {
	q := profile.New()
	q.Summary = p.Summary
	for _, f := range rng.Perm(p.NumUnits()) {
		q.AddUnit(p.UnitPath(profile.UnitRef(f)))
	}
	for _, s := range rng.Perm(p.NumSymbols()) {
		q.AddSymbol(q.AddUnit(p.UnitPath(p.SymbolUnit(profile.SymbolRef(s)))), p.SymbolName(profile.SymbolRef(s)))
	}
	q.Merge(p)
	q.Summary = p.Summary
	return q
}

func TestWriteRefuses(t *testing.T) {
	withRecord := func(r profile.Record) *profile.Profile {
		p := profile.New()
		p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "_Z3foov"), profile.Function{HeadCount: 1, Records: []profile.Record{r}})
		return p
	}
	withName := func(path, name string) *profile.Profile {
		p := profile.New()
		p.AddSymbol(p.AddUnit(path), name)
		return p
	}
	nested := withRecord(profile.Record{Kind: profile.KindInlined})
	nested.AddFunction(0, profile.Function{Records: []profile.Record{
		{Kind: profile.KindInlined, Count: 1},
		{Kind: profile.KindCall, Discriminator: math.MaxUint32},
	}})
	for _, c := range []struct {
		name     string
		p        *profile.Profile
		versions []uint32
		text     string
	}{
		{"discriminator", withRecord(profile.Record{Line: 9, Discriminator: 65536}), []uint32{2, 3}, `discriminator 65536 at line 9 in function "_Z3foov"`},
		{"discriminator of a nested call", nested, []uint32{2, 3}, `discriminator 4294967295 at line 0 in function "_Z3foov"`},
		{"NUL in a name", withName("a.c", "f\x00g"), []uint32{2, 3}, `a NUL in a name "f\x00g"`},
		{"NUL in a path", withName("a\x00.c", "f"), []uint32{3}, `a NUL in a path "a\x00.c"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, version := range c.versions {
				var file bytes.Buffer
				losses, err := Write(&file, c.p, WriteOptions{Version: version})
				assert.ErrorIs(t, err, afdo.ErrUnrepresentable)
				assert.ErrorContains(t, err, c.text)
				assert.Zero(t, losses)
				assert.Zero(t, file.Len())
			}
		})
	}

	var file bytes.Buffer
	_, err := Write(&file, withName("a\x00.c", "f"), WriteOptions{Version: 2})
	assert.NoError(t, err, "version 2 has no paths")
	for _, version := range []uint32{0, 1, 4} {
		_, err := Write(&file, profile.New(), WriteOptions{Version: version})
		assert.EqualError(t, err, "gcov: no version "+string(rune('0'+version))+" to write, only 2 and 3")
	}
}

// Lines of more than 16 bits are written as the lines that GCC uses in lookups, and do not change
// other lines.
func TestWriteFoldsLines(t *testing.T) {
	p := profile.New()
	callee := p.AddSymbol(0, "callee")
	var body profile.Body
	body.Count(5, 0, 7)
	body.Count(1<<16+5, 0, 1)
	body.Count(1<<16+6, 2, 9)
	body.Count(105755, 0, 0)
	body.Call(1<<16+6, 2, callee, 9)
	body.Call(1<<16+7, 0, callee, 0)
	body.Enter(1<<20+3, 0, callee)
	body.Count(1<<16, 0, 4)
	body.Count(1<<16+1, 0, 0)
	body.Leave()
	p.AddFunction(p.AddSymbol(0, "f"), profile.Function{Records: body.Records()})

	q := profile.New()
	callee = q.AddSymbol(0, "callee")
	body.Reset()
	body.Count(5, 0, 8)
	body.Count(6, 2, 9)
	body.Call(6, 2, callee, 9)
	body.Enter(3, 0, callee)
	body.Count(0, 0, 4)
	body.Leave()
	q.AddFunction(q.AddSymbol(0, "f"), profile.Function{Records: body.Records()})
	each(t, func(t *testing.T, o WriteOptions) {
		if o.Version == 3 {
			q.Summary = p.Summarize() // that of the whole stays
		}
		var got, want bytes.Buffer
		losses, err := Write(&got, p, o)
		require.NoError(t, err)
		assert.Equal(t, []int{3, 5}, []int{losses.SilentLines, losses.FoldedLines})
		assert.Contains(t, losses.String(), "3 locations without samples beyond line 65,535 left out; 5 line offsets folded to 16 bits")
		_, err = Write(&want, q, o)
		require.NoError(t, err)
		assert.Equal(t, want.Bytes(), got.Bytes())
	})
}

func TestWriteEmpty(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		f := newFile(o).header(o.Version)
		if o.Version == 3 {
			f.words(0xa8000000).counters(0, 0, 0, 0, 0, 16)
			for _, e := range profile.New().Summarize().Entries {
				f.words(e.Cutoff).counters(0, 0)
			}
			f.words(0xaa000000, 3, 0, 1).str("").words(0xffffffff)
		} else {
			f.words(0xaa000000, 3, 1).str("")
		}
		data, losses := encode(t, profile.New(), o)
		requireSameBytes(t, f.words(0xac000000, 1, 0).tail().bytes, data)
		assert.Zero(t, losses)
	})
}

func TestWriteOrderDefaultsToLittleEndian(t *testing.T) {
	want, p := sample(WriteOptions{Version: 3, ByteOrder: binary.LittleEndian})
	got, _ := encode(t, p, WriteOptions{Version: 3})
	requireSameBytes(t, want, got)
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriteError(t *testing.T) {
	full := errors.New("disk full")
	_, err := Write(brokenWriter{full}, profile.New(), WriteOptions{Version: 2})
	assert.ErrorIs(t, err, full)
	assert.NotErrorIs(t, err, afdo.ErrUnrepresentable)
}
