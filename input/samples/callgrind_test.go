package samples_test

import (
	"debug/elf"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
)

// cg is a callgrind file with two parts, calls between two objects, jumps, and all kinds of
// positions. In the binary, the instruction at 1000 ran ten times, those at 1001 and 1003 eleven
// times, and that at 1013 once.
const cg = `# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 1
cmd:  ./ours
part: 1

desc: I1 cache: 
positions: instr line
events: Dr Ir
summary: 1 2

ob=(1) /tmp/ours
fl=(1) /src/a.c
fn=(1) main
0x1000 7 2 10
+3 * 3 11
cob=(2) /lib/libc.so.6
cfi=(2) /src/libc.c
cfn=(2) memcpy
calls=4 0x9000 3
* * 1 4000
-2 +2 0 11
jcnd=3/7 +2 8
* *
jump=7 -1 8
* *
fi=(3) /src/a.h
cfn=(3) helper
calls=5 0x1010 1
+1 8 1 500
ob=(2)
fn=(2)
0x9000 3 0 4000
cob=(1)
cfn=(3)
calls=1 0x1010 9
0x9001 3 0 30

totals: 1 2
part: 2
positions: instr line
events: Ir
ob=(1)
fn=(3)
0x1013 1 1
* 2
ob=(4) /elsewhere/other
fn=(4) odd
0x1013 1 1
totals: 1
`

func TestCallgrind(t *testing.T) {
	b := plain(t, "/build/ours", elf.ET_DYN)
	s, r, err := samples.Read(iotest.OneByteReader(strings.NewReader(cg)), b, samples.Options{})
	require.NoError(t, err)
	require.Equal(t, "0\n4\n1000:10\n1001:11\n1003:11\n1013:1\n1\n1002->1010:5\n", text(t, s))
	require.Equal(t, map[uint64]uint64{0x1010: 1}, maps.Collect(s.Entries.All()))
	require.True(t, s.Exact)
	require.Equal(t, []uint64{4034, 33}, []uint64{r.Samples, r.InBinary})
	require.Equal(t, []samples.Object{
		{Name: "/lib/libc.so.6", Samples: 4000}, {Name: "/tmp/ours", Samples: 33, Ours: true}, {Name: "/elsewhere/other", Samples: 1},
	}, r.Objects)
	s, _, err = samples.Read(strings.NewReader(cg), b, samples.Options{Name: regexp.MustCompile("ours|libc")})
	require.NoError(t, err)
	require.Equal(t, "0\n5\n1000:10\n1001:11\n1003:11\n1013:1\n9000:4000\n3\n1002->1010:5\n1003->9000:4\n9001->1010:1\n", text(t, s))
}

// With Options.Jumps, the Set's branches contain the jumps that were taken.
func TestCallgrindJumps(t *testing.T) {
	s, _, err := samples.Read(strings.NewReader(cg), plain(t, "/build/ours", elf.ET_DYN), samples.Options{Jumps: true})
	require.NoError(t, err)
	require.Equal(t, "0\n4\n1000:10\n1001:11\n1003:11\n1013:1\n3\n1001->1000:7\n1001->1003:3\n1002->1010:5\n", text(t, s))
}

// Read accepts a callgrind file with instructions but no source lines, with absolute positions and
// without numbers for names.
func TestCallgrindWithoutLines(t *testing.T) {
	s, _, err := samples.Read(strings.NewReader("version: 1\npositions: instr\nevents: Ir\nob=ours\nfn=f\n0x1000 4\n+2 3\n-0x2 1\ntotals: 8\n"), plain(t, "ours", elf.ET_DYN), samples.Options{})
	require.NoError(t, err)
	require.Equal(t, "0\n2\n1000:5\n1002:3\n0\n", text(t, s))
}

// Callgrind writes the cost of a PLT stub as a second cost line with the address of the call, after
// the lines of the calls. Read does not count this line as executions of the call.
func TestCallgrindStubs(t *testing.T) {
	const libc = "cob=(2) libc\ncfn=(2) strlen\n"
	for name, c := range map[string]struct{ body, want string }{
		"bound":    {"0x1000 3\n+5 3\n" + libc + "calls=3 0x9000\n* 30\n* 6\n+5 3\n", "1000:3\n1005:3\n100a:3\n"},
		"absolute": {"0x1005 3\n" + libc + "calls=3 0x9000\n0x1005 30\n0x1005 6\n0x100a 3\n", "1005:3\n100a:3\n"},
		// The first call goes through the dynamic linker as well.
		"lazy": {"0x1005 1\n" + libc + "calls=1 0x9000\n* 10\ncob=(3) ld.so\ncfn=(3) _dl_runtime_resolve\ncalls=1 0x8000\n* 600\n* 5\n-5 2\n+5 2\n" + libc + "calls=2 0x9000\n* 20\n* 2\n+5 3\n", "1000:2\n1005:3\n100a:3\n"},
		// Other code jumps to the call, which is a basic block of its own.
		"block of its own":    {"0x1005 3\n" + libc + "calls=3 0x9000\n* 30\n* 6\n* 4\n" + libc + "calls=4 0x9000\n* 40\n* 8\n+5 7\n", "1005:7\n100a:7\n"},
		"block without stub":  {"0x1005 3\n" + libc + "calls=3 0x9000\n* 30\n* 4\n" + libc + "calls=4 0x9000\n* 40\n+5 7\n", "1005:7\n100a:7\n"},
		"blocks without call": {"0x1005 3\n* 4\n+5 7\n", "1005:7\n100a:7\n"},
		// A jump ends the block, so the calls after it are not those of the cost line before it.
		"jump after a stub": {"0x1005 3\n" + libc + "calls=3 0x9000\n* 30\n* 6\njcnd=2/3 0x1005\n0x1010\n" + libc + "calls=4 0x9000\n* 40\n+5 7\n", "1005:3\n1015:7\n"},
		"the end":           {"0x1005 3\n" + libc + "calls=3 0x9000\n* 30\n* 6\n", "1005:3\n"},
		// The same address in another list of costs, as with --separate-callers.
		"another function": {"0x1005 3\n" + libc + "calls=3 0x9000\n* 30\n* 6\nfn=f'2\n0x1005 4\n" + libc + "calls=4 0x9000\n* 40\n", "1005:7\n"},
	} {
		in := "version: 1\npositions: instr\nevents: Ir\nob=(1) ours\nfn=f\n" + c.body + "totals: 8\n"
		s, _, err := samples.Read(strings.NewReader(in), plain(t, "ours", elf.ET_DYN), samples.Options{})
		require.NoError(t, err, name)
		_, addresses, _ := strings.Cut(text(t, s)[2:], "\n")
		require.Equal(t, c.want+"0\n", addresses, name)
	}
}

// For a callgrind file of another build, the addresses are not in the code of the binary. The error
// says so, and does not blame the library without a name that the file also lists.
func TestCallgrindOfAnotherBuild(t *testing.T) {
	in := "version: 1\npositions: instr\nevents: Ir\nob=(1) /tmp/ours\n0x1000 4\nob=(2) ???\n0x109000 4\ntotals: 8\n"
	f := &elf.File{FileHeader: elf.FileHeader{Type: elf.ET_EXEC}, Progs: []*elf.Prog{load(0, 0x401000, 0x1000)}}
	b, err := samples.NewBinary(f, "/build/ours")
	require.NoError(t, err)
	_, _, err = samples.Read(strings.NewReader(in), b, samples.Options{})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.ErrorContains(t, err, "not in the code of the binary, so another build ran: give the file as it was then")
}

// The Set contains the names of functions, without the caller and the depth of recursion that
// callgrind adds to them.
func TestCallgrindNames(t *testing.T) {
	in := "version: 1\npositions: instr\nevents: Ir\nob=(1) ours\nfn=(1) f'2\n0x1000 4\ncfn=(2) (anonymous namespace)::g(int)\ncalls=1 0x2000\n0x1001 9\n" +
		"fn=(2)\n0x2000 1\nfn=(3) 0x0000000000003000\n0x3000 1\nfn=(4) (below main)\n0x4000 1\nfn=(anonymous namespace)::h()'main\n0x5000 1\ntotals: 8\n"
	s, _, err := samples.Read(strings.NewReader(in), plain(t, "ours", elf.ET_DYN), samples.Options{})
	require.NoError(t, err)
	names := make(map[uint64]string)
	for offset := range s.Addresses.All() {
		names[offset] = s.Names[offset]
	}
	require.Equal(t, map[uint64]string{0x1000: "f", 0x2000: "(anonymous namespace)::g(int)", 0x3000: "", 0x4000: "", 0x5000: "(anonymous namespace)::h()"}, names)
}

// If callgrind has no name for a file, its addresses are those of the process. They are used for a
// program with fixed addresses, and not for a position-independent one.
func TestCallgrindWithoutDebugInfo(t *testing.T) {
	in := "version: 1\npositions: instr\nevents: Ir\nob=(1) /lib/libc.so.6\n0x1000 4\nob=(2) ???\n0x109000 4\ntotals: 8\n"
	for _, name := range []*regexp.Regexp{nil, regexp.MustCompile(`\?\?\?`)} {
		_, _, err := samples.Read(strings.NewReader(in), plain(t, "ours", elf.ET_DYN), samples.Options{Name: name})
		require.ErrorIs(t, err, afdo.ErrNotFound)
		require.ErrorContains(t, err, "callgrind writes ??? for a file whose debug info it cannot read")
	}
	_, _, err := samples.Read(strings.NewReader(strings.Replace(in, "0x1000 4", "0x1000 400", 1)), plain(t, "ours", elf.ET_DYN), samples.Options{})
	require.ErrorIs(t, err, afdo.ErrNotFound)
	require.NotContains(t, err.Error(), "debug info", "there are always a few")
	s, _, err := samples.Read(strings.NewReader(strings.Replace(in, "0x109000", "0x1000", 1)), plain(t, "ours", elf.ET_EXEC), samples.Options{Name: regexp.MustCompile(`\?\?\?`)})
	require.NoError(t, err)
	require.Equal(t, "0\n1\n1000:4\n0\n", text(t, s))
}

func TestCallgrindFaults(t *testing.T) {
	const head = "version: 1\npositions: instr line\nevents: Ir\nob=(1) ours\n" // four lines
	for name, c := range map[string]struct {
		in           string
		class        error
		line, column int
	}{
		"nothing":               {"version: 1\n", afdo.ErrTruncated, 2, 1},
		"no addresses":          {"version: 1\npositions: line\n", afdo.ErrSyntax, 2, 1},
		"no instructions":       {"version: 1\npositions: instr\nevents: Dr Dw\n", afdo.ErrSyntax, 3, 1},
		"no end":                {head + "0x1000 1 1\n", afdo.ErrTruncated, 6, 1},
		"costs of nothing":      {"version: 1\n0x1000 1 1\n", afdo.ErrSyntax, 2, 1},
		"prose":                 {head + "prose\n", afdo.ErrSyntax, 5, 1},
		"unknown key":           {head + "key=value\n", afdo.ErrSyntax, 5, 1},
		"no cost":               {head + "0x1000 1 x\n", afdo.ErrSyntax, 5, 10},
		"great cost":            {head + "0x1000 1 18446744073709551616\n", afdo.ErrOverflow, 5, 10},
		"great address":         {head + "0x12345678123456789 1 1\n", afdo.ErrOverflow, 5, 3},
		"no offset":             {head + "+x 1 1\n", afdo.ErrSyntax, 5, 2},
		"unknown name":          {head + "ob=(2)\n", afdo.ErrSymbol, 5, 4},
		"name without number":   {head + "ob=(x) y\n", afdo.ErrSyntax, 5, 4},
		"unknown function":      {head + "fn=(2)\n", afdo.ErrSymbol, 5, 4},
		"number without end":    {head + "ob=(1\n", afdo.ErrSyntax, 5, 4},
		"call of nothing":       {head + "calls=x\n", afdo.ErrSyntax, 5, 7},
		"call of nowhere":       {head + "calls=1\n", afdo.ErrSyntax, 5, 8},
		"call without position": {head + "calls=1 0x1000\nfn=f\n", afdo.ErrSyntax, 6, 1},
		"call at the end":       {head + "calls=1 0x1000\n", afdo.ErrTruncated, 6, 1},
		"jump at the end":       {head + "jump=1 0x1000\n", afdo.ErrTruncated, 6, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := samples.Read(strings.NewReader(c.in), plain(t, "ours", elf.ET_DYN), samples.Options{})
			require.ErrorIs(t, err, c.class, name)
			require.ErrorIs(t, err, afdo.ErrMalformed, name)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, name)
			require.Equal(t, []int{c.line, c.column}, []int{fault.Line, fault.Column}, "%s: %v", name, err)
		})
	}
}
