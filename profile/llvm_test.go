package profile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// llvmText writes a profile of one unit in LLVM's text format of sample profiles.
func llvmText(p *Profile) string {
	var b strings.Builder
	for s, f := range p.Functions() {
		fmt.Fprintf(&b, "%s:%d:%d\n", p.SymbolName(s), samplesOf(f.Records), f.HeadCount)
		llvmBody(&b, p, f.Records, " ")
	}
	return b.String()
}

func llvmBody(b *strings.Builder, p *Profile, records []Record, indent string) {
	for i := 0; i < len(records); i++ {
		r := &records[i]
		at := fmt.Sprint(indent, r.Line)
		if r.Discriminator > 0 {
			at += fmt.Sprint(".", r.Discriminator)
		}
		switch r.Kind {
		case KindCount:
			fmt.Fprintf(b, "%s: %d\n", at, r.Count)
		case KindInlined:
			nested := records[i+1 : i+1+int(r.Count)]
			fmt.Fprintf(b, "%s: %s:%d\n", at, p.SymbolName(r.Callee), samplesOf(nested))
			llvmBody(b, p, nested, indent+" ")
			i += len(nested)
		}
	}
}

// llvmProfile returns a random profile that LLVM's reader does not change: small counts, no calls,
// and a count in each function and inlined body.
func llvmProfile(rng *rand.Rand) *Profile {
	p := New()
	for i := range 6 {
		p.AddSymbol(UnknownUnit, fmt.Sprintf("function_%d", i))
	}
	var b Body
	var fill func(depth int)
	fill = func(depth int) {
		b.Count(rng.Uint32N(8), rng.Uint32N(2), 1+rng.Uint64N(1000))
		for range rng.IntN(4) {
			b.Count(rng.Uint32N(8), rng.Uint32N(2), 1+rng.Uint64N(1000))
		}
		for range rng.IntN(3 - depth) {
			b.Enter(10+rng.Uint32N(2), 0, SymbolRef(rng.IntN(6)))
			fill(depth + 1)
			b.Leave()
		}
	}
	for s := range 6 {
		if s == 0 || rng.IntN(4) > 0 {
			b.Reset()
			fill(0)
			p.AddFunction(SymbolRef(s), Function{HeadCount: 1, Records: b.Records()})
		}
	}
	return p
}

var (
	llvmFigure   = regexp.MustCompile(`(?m)^ *([a-zA-Z ]+): ([0-9.]+)%?$`)
	llvmFunction = regexp.MustCompile(`(?m)^([0-9.]+)% +([0-9.]+)% +([0-9.]+)% .* (\d+) +(\d+) +(function_\d)$`)
)

// TestOverlapAsLLVM compares the figures of Overlap with those of llvm-profdata.
func TestOverlapAsLLVM(t *testing.T) {
	tool := testenv.Tool(t, "llvm-profdata", "llvm-profdata-22")
	rng := rand.New(rand.NewPCG(75, 76))
	dir := t.TempDir()
	for range testenv.Rounds(4, 12) {
		p, q := llvmProfile(rng), llvmProfile(rng)
		if rng.IntN(2) == 0 {
			q = merged(p, p, q)
		}
		paths := []string{filepath.Join(dir, "first"), filepath.Join(dir, "second")}
		require.NoError(t, os.WriteFile(paths[0], []byte(llvmText(p)), 0o666))
		require.NoError(t, os.WriteFile(paths[1], []byte(llvmText(q)), 0o666))
		out, err := exec.Command(tool, "overlap", "--sample", "--value-cutoff=0", paths[0], paths[1]).Output()
		require.NoError(t, err)
		figures := map[string]float64{}
		for _, m := range llvmFigure.FindAllStringSubmatch(string(out), -1) {
			figures[m[1]], err = strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)
		}
		d := NewDiff(p, q)
		for name, got := range map[string]float64{
			"Whole program profile similarity":             100 * d.Overlap.Similarity,
			"Whole program sample overlap":                 100 * d.Overlap.Counts,
			"percentage of samples unique in base profile": 100 * d.Overlap.OnlyFirst,
			"percentage of samples unique in test profile": 100 * d.Overlap.OnlySecond,
			"total samples in base profile":                float64(d.First.Samples),
			"total samples in test profile":                float64(d.Second.Samples),
			"overlap functions":                            float64(countFunctions(d, 1, 1)),
			"functions unique in base profile":             float64(countFunctions(d, 1, 0)),
			"functions unique in test profile":             float64(countFunctions(d, 0, 1)),
		} {
			require.Contains(t, figures, name, "%s", out)
			require.InDelta(t, figures[name], got, 0.0006, "%s\n%s", name, out)
		}
		requireLLVMFunctions(t, d, string(out))
	}
}

func countFunctions(d *Diff, first, second int) (n int) {
	for _, f := range d.Functions {
		if f.First.Functions == first && f.Second.Functions == second {
			n++
		}
	}
	return n
}

// requireLLVMFunctions compares the similarity of single functions. LLVM multiplies it by a factor
// for the difference of their shares.
func requireLLVMFunctions(t *testing.T, d *Diff, out string) {
	t.Helper()
	lines := map[string][]string{}
	for _, m := range llvmFunction.FindAllStringSubmatch(out, -1) {
		lines[m[6]] = m
	}
	for _, f := range d.Functions {
		if f.Second.Functions == 0 {
			continue // LLVM lists those of the second profile
		}
		m := lines[f.Name]
		require.NotNil(t, m, "%s: %s", f.Name, out)
		weighted := f.Overlap * (1 - max(f.Change(), -f.Change()))
		for i, got := range []float64{100 * f.First.Share, 100 * f.Second.Share, 100 * weighted} {
			want, err := strconv.ParseFloat(m[i+1], 64)
			require.NoError(t, err)
			assert.InDelta(t, want, got, 0.006, "%s", m[0])
		}
	}
}
