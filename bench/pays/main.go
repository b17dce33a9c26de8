// Command pays creates the profiles that bench/pays/run.sh compares: variations of one profile, and
// the samples that a processor with branch records would have taken of a run counted by callgrind.
// It also races the programs that the script builds. For bench/pays/samples.sh it creates shorter
// recordings from a long one.
//
//	pays vary heads|zeros|targets|hot IN.v2 OUT.v2
//	pays sample PERIOD BINARY callgrind.out OUT.samples
//	pays draw NUMBER SEED IN.samples OUT.samples
//	pays race ROUNDS COMMANDS PROGRAM...
package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/profile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pays:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "vary":
		return vary(args[1], args[2], args[3])
	case len(args) == 5 && args[0] == "sample":
		period, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil || period == 0 {
			return fmt.Errorf("%q is no period", args[1])
		}
		return sample(period, args[2], args[3], args[4])
	case len(args) == 5 && args[0] == "draw":
		n, err := strconv.ParseUint(args[1], 10, 64)
		seed, err2 := strconv.ParseUint(args[2], 10, 64)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		return draw(n, seed, args[3], args[4])
	case len(args) >= 4 && args[0] == "race":
		rounds, err := strconv.Atoi(args[1])
		if err != nil || rounds <= 0 {
			return fmt.Errorf("%q is no number of rounds", args[1])
		}
		return race(rounds, args[2], args[3:])
	}
	return fmt.Errorf("usage: see the comment of bench/pays/main.go")
}

// hotShare: GCC considers a block hot if its count is at least 1/hotShare of the largest count
// (--param hot-bb-count-fraction). GCC up to 14 does not know the largest count of an AutoFDO
// profile, and considers every block hot that ran more than once.
const hotShare = 10_000

// vary writes a profile with some parts removed, or with counts scaled down so that counts below
// the hot threshold become 1.
func vary(what, from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	p, err := gcov.ParseBytes(data)
	if err != nil {
		return err
	}
	v := variation{what: what}
	for _, f := range p.Functions() {
		for _, r := range f.Records {
			if r.Kind == profile.KindCount {
				v.hottest = max(v.hottest, r.Count)
			}
		}
	}
	q := profile.New()
	symbol := func(s profile.SymbolRef) profile.SymbolRef {
		return q.AddSymbol(q.AddUnit(p.UnitPath(p.SymbolUnit(s))), p.SymbolName(s))
	}
	for s, f := range p.Functions() {
		g := *f
		g.HeadCount = v.count(f.HeadCount)
		if what == "heads" {
			g.HeadCount = 0
		}
		g.Records = v.records(f.Records, symbol)
		q.AddFunction(symbol(s), g)
	}
	var out bytes.Buffer
	if _, err := gcov.Write(&out, q, gcov.WriteOptions{Version: 2}); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o666)
}

// A variation is a change of the profile.
type variation struct {
	what    string
	hottest uint64
}

// count returns the changed count.
func (v *variation) count(n uint64) uint64 {
	if v.what != "hot" || v.hottest <= hotShare {
		return n
	}
	return uint64(math.Ceil(float64(n) * hotShare / float64(v.hottest)))
}

// records returns the records that remain. The length of an inlined body becomes the number of its
// remaining records.
func (v *variation) records(records []profile.Record, symbol func(profile.SymbolRef) profile.SymbolRef) []profile.Record {
	var body profile.Body
	body.AddRecords(records, func(r *profile.Record) bool {
		switch {
		case r.Kind == profile.KindCall && v.what == "targets", r.Kind == profile.KindCount && v.what == "zeros" && r.Count == 0:
			return false
		case r.Kind != profile.KindCount:
			r.Callee = symbol(r.Callee)
		}
		r.Count = v.count(r.Count)
		return true
	})
	return body.Records()
}

// sample writes the samples of a run.
func sample(period uint64, binary, counts, to string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := samples.NewBinary(f, binary)
	if err != nil {
		return err
	}
	flow, err := readFlow(b, counts)
	if err != nil {
		return err
	}
	return writeSamples(flow.sample(period), to)
}

// writeSamples writes samples to a file.
func writeSamples(set *samples.Set, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := set.Write(out); err != nil {
		return err
	}
	return out.Close()
}

// draw writes n randomly chosen samples of a recording without branches, as if the recording had
// been shorter. The same seed chooses the same samples.
func draw(n, seed uint64, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	set, err := samples.Parse(in)
	if err != nil {
		return err
	}
	var sampled []uint64 // file offset of each sample
	for offset, count := range set.Addresses.All() {
		sampled = append(sampled, slices.Repeat([]uint64{offset}, int(count))...)
	}
	if n > uint64(len(sampled)) {
		return fmt.Errorf("%s has %d samples, not %d", from, len(sampled), n)
	}
	random := rand.New(rand.NewPCG(seed, n))
	random.Shuffle(len(sampled), func(i, j int) { sampled[i], sampled[j] = sampled[j], sampled[i] })
	drawn := new(samples.Set)
	for _, offset := range sampled[:n] {
		drawn.Addresses.Add(offset, 1)
	}
	return writeSamples(drawn, to)
}
