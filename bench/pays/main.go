// Command pays makes the profiles that bench/pays/run.sh compares: variations of one profile, and
// the samples that a processor with branch records would have taken of a run that callgrind has
// counted.
//
//	pays vary heads|zeros|targets IN.v2 OUT.v2
//	pays sample PERIOD BINARY callgrind.out OUT.samples
package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"strconv"

	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/samples"
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
	}
	return fmt.Errorf("usage: pays vary heads|zeros|targets IN OUT, or pays sample PERIOD BINARY CALLGRIND OUT")
}

// vary writes a profile without something.
func vary(what, from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	p, err := gcov.Decode(data)
	if err != nil {
		return err
	}
	q := profile.New()
	symbol := func(s profile.SymbolRef) profile.SymbolRef {
		return q.AddSymbol(q.AddFile(p.FilePath(p.SymbolFile(s))), p.SymbolName(s))
	}
	for s, f := range p.Functions() {
		g := *f
		if what == "heads" {
			g.HeadCount = 0
		}
		g.Records = without(what, f.Records, symbol)
		q.AddFunction(symbol(s), g)
	}
	var out bytes.Buffer
	if _, err := gcov.Write(&out, q, gcov.WriteOptions{Version: 2}); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o666)
}

// without returns records without those that are to go. An inlined body is as long as what is left
// of it.
func without(what string, records []profile.Record, symbol func(profile.SymbolRef) profile.SymbolRef) []profile.Record {
	var body profile.Body
	var ends []int
	for i, r := range records {
		for len(ends) > 0 && ends[len(ends)-1] == i {
			body.Leave()
			ends = ends[:len(ends)-1]
		}
		switch {
		case r.Kind == profile.KindInlined:
			body.Enter(r.Line, r.Discriminator, symbol(r.Callee))
			ends = append(ends, i+1+int(r.Count))
		case r.Kind == profile.KindCall:
			if what != "targets" {
				body.Call(r.Line, r.Discriminator, symbol(r.Callee), r.Count)
			}
		case what != "zeros" || r.Count > 0:
			body.Count(r.Line, r.Discriminator, r.Count)
		}
	}
	for range ends {
		body.Leave()
	}
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
	flow, err := readFlow(b, f, counts)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := flow.sample(period).Write(out); err != nil {
		return err
	}
	return out.Close()
}
