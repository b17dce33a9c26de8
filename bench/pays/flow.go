package main

import (
	"bufio"
	"debug/elf"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
)

// A flow holds the execution counts of a binary's instructions and branches, as counted by
// callgrind with --dump-instr=yes --collect-jumps=yes. Addresses are file offsets.
type flow struct {
	counts map[uint64]uint64            // by instruction
	taken  map[uint64]map[uint64]uint64 // by branch and target
	ends   map[uint64]bool              // instructions that never continue with the next one
}

// readFlow reads a callgrind.out file with jumps. It is simpler than package samples: it handles a
// single binary and does no checks.
func readFlow(b *samples.Binary, f *elf.File, path string) (*flow, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := flowReader{binary: b, names: make(map[string]string), flow: flow{
		counts: make(map[uint64]uint64), taken: make(map[uint64]map[uint64]uint64), ends: make(map[uint64]bool),
	}}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := r.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return &r.flow, r.flow.findLeaving(b.Path)
}

type flowReader struct {
	flow
	binary      *samples.Binary
	names       map[string]string
	object      string
	callee      string
	address     uint64
	calls, jump *edge // the next line has the source of this call or jump
}

// An edge is the target of a branch, with its count.
type edge struct {
	to, count uint64
	always    bool
	ours      bool
}

func (r *flowReader) line(line string) error {
	if line == "" {
		return nil
	}
	if strings.ContainsRune("0123456789+-*", rune(line[0])) {
		return r.cost(strings.Fields(line))
	}
	key, value, _ := strings.Cut(line, "=")
	words := strings.Fields(value)
	switch {
	case key == "ob":
		r.object = r.name(value)
	case key == "cob":
		r.callee = r.name(value)
	case key == "calls" && len(words) > 1:
		callee := r.callee
		if callee == "" {
			callee = r.object
		}
		r.callee = ""
		e, err := r.edge(words[0], words[1])
		e.ours = r.ours(callee)
		r.calls = e
		return err
	case (key == "jump" || key == "jcnd") && len(words) > 1:
		count, _, _ := strings.Cut(words[0], "/")
		e, err := r.edge(count, words[1])
		e.always, e.ours = key == "jump", true
		r.jump = e
		return err
	}
	return nil
}

func (r *flowReader) name(text string) string {
	if number, name, ok := strings.Cut(text, " "); ok {
		r.names[number] = name
		return name
	}
	if name, ok := r.names[text]; ok {
		return name
	}
	return text
}

func (r *flowReader) ours(object string) bool {
	return filepath.Base(object) == filepath.Base(r.binary.Path)
}

func (r *flowReader) edge(count, to string) (*edge, error) {
	n, err := strconv.ParseUint(count, 10, 64)
	if err != nil {
		return &edge{}, err
	}
	address, err := r.position(to)
	return &edge{to: address, count: n}, err
}

func (r *flowReader) position(word string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimLeft(word, "+-"), 0, 64)
	switch {
	case word == "*":
		return r.address, nil
	case word[0] == '+':
		return r.address + n, err
	case word[0] == '-':
		return r.address - n, err
	}
	return n, err
}

func (r *flowReader) cost(words []string) (err error) {
	calls, jump := r.calls, r.jump
	r.calls, r.jump = nil, nil
	if r.address, err = r.position(words[0]); err != nil || !r.ours(r.object) {
		return err
	}
	at, ok := r.binary.Layout.Offset(r.address)
	if !ok {
		return nil
	}
	for _, e := range []*edge{calls, jump} {
		if e == nil || !e.ours {
			continue
		}
		if to, ok := r.binary.Layout.Offset(e.to); ok {
			r.take(at, to, e.count)
		}
		r.ends[at] = r.ends[at] || e.always
	}
	if calls != nil || jump != nil || len(words) < 3 {
		return nil
	}
	n, err := strconv.ParseUint(words[2], 10, 64)
	r.counts[at] += n
	return err
}

func (f *flow) take(from, to, n uint64) {
	if f.taken[from] == nil {
		f.taken[from] = make(map[uint64]uint64)
	}
	f.taken[from][to] += n
}

// findLeaving marks x86 returns and jumps as instructions that do not continue. Callgrind treats a
// jump to another file as a call.
func (f *flow) findLeaving(path string) error {
	code, err := os.ReadFile(path)
	for at := range f.counts {
		if at+1 >= uint64(len(code)) {
			continue
		}
		switch c, next := code[at], code[at+1]; {
		case c == 0xc2, c == 0xc3, c == 0xf3 && next == 0xc3, c == 0xe9, c == 0xeb, c == 0xff && next&0x30 == 0x20:
			f.ends[at] = true
		}
	}
	return err
}

// stack is the number of branches in a branch stack.
const stack = 32

// sample returns what a processor would have recorded with one branch stack every period branches.
// Each branch, and each range of code between two branches, appears at random in proportion to its
// count. The order of ranges is unknown, so each instruction continues at random in proportion to
// its total counts.
func (f *flow) sample(period uint64) *samples.Set {
	random := rand.New(rand.NewPCG(1, 2))
	set := new(samples.Set)
	seen := func(n float64) uint64 { return poisson(random, n*stack/float64(period)) }
	order := slices.Sorted(maps.Keys(f.counts))
	entries := f.entries(order)
	for _, from := range slices.Sorted(maps.Keys(f.taken)) {
		for _, to := range slices.Sorted(maps.Keys(f.taken[from])) {
			if n := seen(float64(f.taken[from][to])); n > 0 {
				set.AddBranch(samples.Branch{From: from, To: to}, n)
			}
		}
	}
	for i, begin := range order {
		left := entries[begin]
		for j := i; j < len(order) && left >= 0.5; j++ {
			at := order[j]
			leave := left
			if j+1 < len(order) && order[j+1]-at <= 15 && !f.ends[at] {
				leave = left * min(1, float64(f.takenAt(at))/math.Max(1, float64(f.counts[at])))
			}
			if n := seen(leave); n > 0 {
				set.AddRange(samples.Range{Begin: begin, End: at}, n)
			}
			left -= leave
		}
		if n := poisson(random, float64(f.counts[begin])/float64(period)); n > 0 {
			set.AddAddress(begin, n)
		}
	}
	return set
}

func (f *flow) takenAt(at uint64) uint64 {
	sum := uint64(0)
	for _, n := range f.taken[at] {
		sum += n
	}
	return sum
}

// entries returns how often each instruction was reached other than from the previous one.
func (f *flow) entries(order []uint64) map[uint64]float64 {
	entries := make(map[uint64]float64)
	for i, at := range order {
		through := 0.0
		if i > 0 && at-order[i-1] <= 15 && !f.ends[order[i-1]] {
			before := order[i-1]
			through = max(0, float64(f.counts[before])-float64(f.takenAt(before)))
		}
		entries[at] = max(0, float64(f.counts[at])-through)
	}
	return entries
}

// poisson returns a random number of events whose expected number is n.
func poisson(random *rand.Rand, n float64) uint64 {
	if n > 50 {
		return uint64(max(0, math.Round(n+math.Sqrt(n)*random.NormFloat64())))
	}
	count := uint64(0)
	for p := random.Float64(); p > math.Exp(-n); p *= random.Float64() {
		count++
	}
	return count
}
