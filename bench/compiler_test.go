package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// source is the file that is compiled. It has one function, whose name is that of a function in the
// profile.
const source = `int step(int);
int %s(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += step(i);
  return sum;
}
`

// cFunction returns a function of the profile whose name is a valid name in C, from the unit whose
// size is closest to the mean.
func cFunction(tb testing.TB, p *profile.Profile) profile.SymbolRef {
	sizes := make([]int, p.NumUnits())
	for s := range p.NumSymbols() {
		sizes[p.SymbolUnit(profile.SymbolRef(s))]++
	}
	best, least := profile.SymbolRef(0), -1.0
	for s := range p.Functions() {
		if name := p.SymbolName(s); strings.HasPrefix(name, "_Z") || strings.Contains(name, ".") {
			continue
		}
		off := distance(sizes[p.SymbolUnit(s)]*p.NumUnits(), p.NumSymbols())
		if least < 0 || off < least {
			best, least = s, off
		}
	}
	require.GreaterOrEqual(tb, least, 0.0, "no function in C")
	return best
}

// BenchmarkCompile compiles a file of one function with gcc: without a profile, with the whole
// profile of a bootstrap in version 2, and with the slice of the function's unit.
func BenchmarkCompile(b *testing.B) {
	gcc := testenv.Tool(b, "gcc")
	p := bootstrap.profile(b)
	s := cFunction(b, p)
	file := filepath.Join(scratch, "one.c")
	require.NoError(b, os.WriteFile(file, fmt.Appendf(nil, source, p.SymbolName(s)), 0o600))
	var data bytes.Buffer
	part, err := slice.FromProfile(p).Select(slice.Request{Units: []string{p.UnitPath(p.SymbolUnit(s))}, Target: slice.Version2})
	require.NoError(b, err)
	require.NoError(b, writeGCOV(&data, part, 2))
	sliced := filepath.Join(scratch, "one.v2")
	require.NoError(b, os.WriteFile(sliced, data.Bytes(), 0o600))

	for _, with := range []struct{ name, profile string }{
		{"profile=none", ""},
		{"profile=slice", sliced},
		{"profile=whole", bootstrap.path(b, "v2")},
	} {
		b.Run("corpus=bootstrap/"+with.name, func(b *testing.B) {
			command := []string{gcc, "-O2", "-c", "-o", filepath.Join(scratch, "one.o"), file}
			if with.profile != "" {
				command = append(command, "-fauto-profile="+with.profile)
				if said, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
					b.Skipf("gcc does not read version 2: %s", said)
				}
			}
			measureProcess(b, command...)
		})
	}
}

// BenchmarkLLVM looks up one function with llvm-profdata, in the same profile in a format of LLVM.
func BenchmarkLLVM(b *testing.B) {
	profdata := testenv.Tool(b, "llvm-profdata-22")
	_, symbol := bootstrap.averageUnit(b)
	text, file := filepath.Join(scratch, "llvm.txt"), filepath.Join(scratch, "llvm.extbinary")
	var samples bytes.Buffer
	writeLLVM(&samples, bootstrap.profile(b))
	require.NoError(b, os.WriteFile(text, samples.Bytes(), 0o600))
	said, err := exec.Command(profdata, "merge", "--sample", "--extbinary", "-o", file, text).CombinedOutput()
	require.NoError(b, err, "%s", said)
	info, err := os.Stat(file)
	require.NoError(b, err)

	b.Run("corpus=bootstrap/op=show-function", func(b *testing.B) {
		measureProcess(b, profdata, "show", "--sample", "--function="+symbol, file)
		b.ReportMetric(float64(info.Size()), "file-B")
	})
}

// writeLLVM writes a profile in the text format of LLVM's sample profiles.
func writeLLVM(w io.Writer, p *profile.Profile) {
	for s, f := range p.Functions() {
		fmt.Fprintf(w, "%s:%d:%d\n", p.SymbolName(s), total(f.Records), f.HeadCount)
		writeLLVMBody(w, p, f.Records, " ")
	}
}

func writeLLVMBody(w io.Writer, p *profile.Profile, records []profile.Record, indent string) {
	for i := 0; i < len(records); {
		r := &records[i]
		if r.Kind == profile.KindInlined {
			nested := records[i+1 : i+1+int(r.Count)]
			fmt.Fprintf(w, "%s%s: %s:%d\n", indent, place(r), p.SymbolName(r.Callee), total(nested))
			writeLLVMBody(w, p, nested, indent+" ")
			i += 1 + len(nested)
			continue
		}
		var samples uint64
		if r.Kind == profile.KindCount {
			samples = r.Count
			i++
		}
		fmt.Fprintf(w, "%s%s: %d", indent, place(r), samples)
		for ; i < len(records) && records[i].Kind == profile.KindCall && place(&records[i]) == place(r); i++ {
			fmt.Fprintf(w, " %s:%d", p.SymbolName(records[i].Callee), records[i].Count)
		}
		fmt.Fprintln(w)
	}
}

func place(r *profile.Record) string {
	if r.Discriminator == 0 {
		return fmt.Sprint(r.Line)
	}
	return fmt.Sprintf("%d.%d", r.Line, r.Discriminator)
}

// total returns the sum of the samples of a body and of the bodies that are inlined in it.
func total(records []profile.Record) (sum uint64) {
	for i := range records {
		if records[i].Kind == profile.KindCount {
			sum += records[i].Count
		}
	}
	return sum
}
