package sampleprof

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// layouts lists the layouts of binary files: the options of llvm-profdata, and the WriteOptions for
// the same layout.
var layouts = map[string]struct {
	flags   []string
	options WriteOptions
}{
	"plain":          {},
	"md5":            {[]string{"--use-md5"}, WriteOptions{MD5: true}},
	"split":          {[]string{"--split-layout"}, WriteOptions{SplitLayout: true}},
	"compressed":     {[]string{"--compress-all-sections"}, WriteOptions{Compress: true}},
	"compressed md5": {[]string{"--compress-all-sections", "--use-md5"}, WriteOptions{Compress: true, MD5: true}},
	"compressed split md5": {[]string{"--compress-all-sections", "--use-md5", "--split-layout"},
		WriteOptions{Compress: true, MD5: true, SplitLayout: true}},
}

// requireLikeLLVM converts a text to every format, with this package and with LLVM, and compares
// the results. It uses the layout with index turn, or all layouts if turn is -1.
func requireLikeLLVM(t *testing.T, l *llvm, text string, s shape, turn int) {
	t.Helper()
	p := parse(t, text)
	require.Equal(t, l.text([]byte(text)), textOf(t, p), "the text that it makes of\n%s", text)
	for i, name := range slices.Sorted(maps.Keys(layouts)) {
		layout := layouts[name]
		if s.contexts && layout.options.SplitLayout || turn >= 0 && i != turn%len(layouts) {
			continue
		}
		flags := append([]string{"--extbinary"}, layout.flags...)
		if strings.Contains(text, "vtables") { // which else would make empty lists
			flags = append(flags, "--extbinary-write-vtable-type-prof")
		}
		theirs := l.merge(flags, []byte(text))
		want := l.text(theirs)
		require.Equal(t, want, textOf(t, decoded(t, theirs)), "%s: %s", name, text)
		ours := extBinary(t, p, layout.options)
		if !layout.options.Compress && !s.probes && !s.attributes {
			require.Equal(t, theirs, ours, "%s: %s", name, text)
		}
		if s.attributes && !s.contexts && !p.PreInlined {
			continue // LLVM loses the attributes
		}
		require.Equal(t, want, l.text(ours), "%s: %s", name, text)
		require.Equal(t, want, textOf(t, decoded(t, ours)), "%s: %s", name, text)
	}
	if s.contexts || s.probes {
		return
	}
	theirs := l.merge([]string{"--binary"}, []byte(text))
	require.Equal(t, theirs, binaryOf(t, p))
	require.Equal(t, l.text(theirs), textOf(t, decoded(t, theirs)))
}

// TestRandomProfilesAsLLVM checks that LLVM and this package read each other's files in the same
// way and write the same bytes. In a sweep, it combines every shape of profile with every layout.
// Otherwise it tests each shape with one layout and each layout with one shape.
func TestRandomProfilesAsLLVM(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(shapes)) {
		s := shapes[name]
		t.Run(name, func(t *testing.T) {
			if i != 3 && i != 6 { // of contexts and probes, and plain
				testenv.NeedSweep(t)
			}
			t.Parallel()
			l := newLLVM(t)
			rng := rand.New(rand.NewPCG(1, uint64(len(name))))
			for range testenv.Rounds(1, 2, 6) {
				requireLikeLLVM(t, l, textOf(t, randomProfile(rng, s)), s, testenv.Rounds(i, -1))
				i++
			}
		})
	}
}

// TestAndroidAsLLVM reads profiles that Android compiles its programs with, and compares them with
// LLVM.
func TestAndroidAsLLVM(t *testing.T) {
	for _, name := range androidProfiles[:testenv.Rounds(1, len(androidProfiles))] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := corpusFile(t, name)
			l := newLLVM(t)
			p := decoded(t, data)
			assert.True(t, p.FS)
			text := l.text(data)
			requireSame(t, text, textOf(t, p))
			requireSame(t, text, textOf(t, parse(t, text)))
			requireSame(t, l.merge([]string{"--extbinary"}, data), extBinary(t, p, WriteOptions{}))
			if !testenv.Sweep() {
				return
			}
			md5 := l.merge([]string{"--extbinary", "--use-md5", "--compress-all-sections"}, data)
			requireSame(t, l.text(md5), textOf(t, decoded(t, md5)))
		})
	}
}

// requireSame checks that two values are equal. It prints only where they differ, because they are
// too long to print.
func requireSame[T string | []byte](t *testing.T, want, got T) {
	t.Helper()
	require.True(t, string(want) == string(got), "%d bytes wanted, %d got, different from byte %d on", len(want), len(got), differ(want, got))
}

func differ[T string | []byte](a, b T) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// texts are small profiles in text form, one for each decision of the text reader.
var texts = []string{
	"main:10:1\n # c\n 1: 5\n#x\n\n  \n   # y\n 2: 3",
	"main:10:1\n 1: 5 a:3 b:4\n 1: 5 a:3\n 1: 2 a:1 a:7\n",
	"main:10:1\n 1: 5 a:7 a:1\n",
	"main:10:1\n 1: 5\n   2: 7\n 3: foo:9\n    1: 3\n  2: 4\n 4: 6\n",
	"main:10:1\n 1: vtables a:1 b:2 \n 1: 3\n 2: foo:4\n 2: vtables c:5 a:5\n",
	"main:10:1\n 1: 3\n 1: bar:1\n  1: vtables a:3\n 1: vtables a:3 \n 1: vtables a:4\n",
	"main:10:1\n 1: 5\n !CFGChecksum: 77\n !Attributes: 3\nfoo:3:2\n 1: bar:7\n  1: 3\n  !CFGChecksum: 3\n",
	"main:10:1\n 1: 5\n !Flat\n",
	"main:10:1\n 1: 5\n !Attributes: 3\n !Flat\n",
	"main:10:1\n 1: 5\n !Attributes: 3\n !CFGChecksum: 7\n",
	"[main]:10:1\n 1: 5\n[main:3 @ foo:1.2 @ leaf]:7:1\n 1: 4\n !Attributes: 1\n",
	"\n\n# hi\nmain:10:1\r\n 1: 5\r\n",
	"main:10:1\n 1: foo:5\n 1: foo:6\n  1: 3\n",
	":3:4\n 1: 2\n",
	"main:10:1\n 1: 5\nmain:10:1\n 2: 5\n",
	"main:0:0\n",
	"main:10:1\n 1: 5\nm2:10:1\n 2: 5\n !CFGChecksum: 0\n",
	"main:10:1\n 1: 5\n !CFGChecksum: 3\nm2:10:1\n 2: 5\n",
	"main:10:1\n 3: bar:3\n  1: 1\n  !Attributes: 3\n 3: bar:4\n  4: 4\n",
	"main:10:1\n 1: 5\n !CFGChecksum: 3\nmain:10:1\n 2: 5\n !CFGChecksum: 4\n",
	"main:10:1\n 01.02: 05 a:07\n",
	"main:10:1\n 1: :5\n",
	"main:10:1\n 1: 5  a:3   b:4\n",
	"main:10:1\n 1: 5 a:3 b:3 B:3 c:9\n",
	"main:10:1\n 1: 5 _M_construct<char *>:1000 a::b:3 string_view<std::allocator<char> >:437\n",
	"a b:c:10:1\n 1: foo::bar:5\n  1: 3 x y:3 z:z:4\n",
	"[a]:10:1\n 1: 5\n[a:1 @ b]:10:1\n 1: 5\n[a:1.1 @ b]:10:1\n[b]:10:1\n[a:2 @ b]:10:1\n[a:10 @ b]:10:1\n[a:2 @ b:2 @ c]:10:1\n",
	"[a]:10:1\n 1: x:5\n  1: 3\n",
	"main:10:1\n 1: 18446744073709551615\n 2: 18446744073709551615\n 3: bar:3\n  1: 1\n  !Attributes: 4\n",
	"main:10:1\n 65535: 5\n 0: f:3\n  65535.4294967295: 1\n",
	"zz:10:1\nzz.a:10:1\nzz:1:1\naa:11:1\n",
}

func TestTextsAsLLVM(t *testing.T) {
	l := newLLVM(t)
	for i, text := range texts {
		if testenv.Rounds(i%8, 0) != 0 {
			continue
		}
		assert.Equal(t, l.text([]byte(text)), textOf(t, parse(t, text)), "%s", text)
		p := parse(t, text)
		if testenv.Rounds(1, 0) > 0 || p.ContextSensitive || p.Probes || strings.Contains(text, "!Attributes") || strings.Contains(text, "vtables") {
			continue // LLVM's bytes are in no order, or not complete
		}
		assert.Equal(t, l.merge([]string{"--extbinary"}, []byte(text)), extBinary(t, p, WriteOptions{}), "%s", text)
	}
}

// TestBadTextsAsLLVM checks that texts that LLVM rejects are also rejected here.
func TestBadTextsAsLLVM(t *testing.T) {
	l := newLLVM(t)
	for i, bad := range badTexts {
		if testenv.Rounds(i%32, 0) != 0 {
			continue
		}
		_, said, err := l.tryMerge([]string{"--text"}, []byte(bad.text))
		if bad.llvmAccepts {
			assert.NoError(t, err, "%q: %s", bad.text, said)
		} else {
			assert.Error(t, err, "%q", bad.text)
		}
	}
}

// TestLLVMRefusesItsLongLines shows a defect of LLVM: it accepts a text with a line offset of more
// than 16 bits, and then rejects the file that it has written of it.
func TestLLVMRefusesItsLongLines(t *testing.T) {
	testenv.NeedSweep(t)
	l := newLLVM(t)
	written := l.merge([]string{"--extbinary"}, []byte("main:10:1\n 70000.1: 5\n"))
	_, said, err := l.tryMerge([]string{"--text"}, written)
	require.Error(t, err)
	require.Contains(t, said, "Illegal line offset")
	r, err := OpenBytes(written)
	require.NoError(t, err)
	_, err = Read(r)
	require.ErrorIs(t, err, errLine)
}

// TestSymbolListAsLLVM compares the symbol list and the flag of a partial profile with LLVM. The
// text form has neither.
func TestSymbolListAsLLVM(t *testing.T) {
	l := newLLVM(t)
	text := "main:10:1\n 1: 5\n"
	list := filepath.Join(l.dir, "list")
	require.NoError(t, os.WriteFile(list, []byte("zeta\nmain\nalpha\n"), 0o666))
	p := parse(t, text)
	p.SymbolList = []string{"zeta", "main", "alpha", "main"}
	p.Partial = true
	flags := []string{"--extbinary", "--gen-partial-profile", "--prof-sym-list", list}
	theirs := l.merge(flags, []byte(text))
	require.Equal(t, theirs, extBinary(t, p, WriteOptions{}))
	back := decoded(t, theirs)
	assert.Equal(t, []string{"alpha", "main", "zeta"}, back.SymbolList)
	assert.True(t, back.Partial)
	packed := l.merge(append(flags, "--compress-all-sections"), []byte(text))
	assert.Equal(t, back.SymbolList, decoded(t, packed).SymbolList)
	// LLVM adds up the lists of what it merges.
	p.SymbolList = []string{"beta", "main"}
	merged := decoded(t, l.merge([]string{"--extbinary"}, theirs, extBinary(t, p, WriteOptions{})))
	assert.Equal(t, []string{"alpha", "beta", "main", "zeta"}, merged.SymbolList)
	_, err := back.Merge(p, one)
	require.NoError(t, err)
	assert.Equal(t, merged.SymbolList, back.SymbolList)
	assert.Equal(t, textOf(t, merged), textOf(t, back))
}

// TestMergeAsLLVM compares weighted sums of profiles with those of llvm-profdata.
func TestMergeAsLLVM(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(shapes)) {
		s := shapes[name]
		t.Run(name, func(t *testing.T) {
			if i != 1 {
				testenv.NeedSweep(t)
			}
			t.Parallel()
			l := newLLVM(t)
			rng := rand.New(rand.NewPCG(3, uint64(len(name))))
			for range testenv.Rounds(1, 5, 20) {
				a, b := textOf(t, randomProfile(rng, s)), textOf(t, randomProfile(rng, s))
				want := withoutRepeats(string(l.merge([]string{"--text"}, []byte(a), []byte(b))))
				p := parse(t, a)
				_, err := p.Merge(parse(t, b), one)
				require.NoError(t, err)
				require.Equal(t, want, textOf(t, p), "%s\nand\n%s", a, b)
			}
		})
	}
}

// TestChecksumsAndWeightsAsLLVM merges functions whose checksums differ. The later function is
// dropped, and so is a later inlined body, at any depth. Products of counts and weights saturate.
func TestChecksumsAndWeightsAsLLVM(t *testing.T) {
	l := newLLVM(t)
	body := func(outer, inner string) string {
		return "main:10:1\n 1: 5\n 2: f:3\n  1: 3\n" + inner + outer + "other:4:1\n 1: 4\n !CFGChecksum: 9\n"
	}
	none, first, second := "", " !CFGChecksum: 1\n", " !CFGChecksum: 2\n"
	cases := []struct{ a, b string }{
		{body(first, " "+first), body(second, " "+first)},
		{body(first, " "+first), body(first, " "+second)},
		{body(first, none), body(first, " "+second)},
		{body(first, " "+first), body(first, none)},
		{body(none, " "+first), body(first, " "+first)},
		{body(first, " "+first), body(none, " "+first)},
		{"main:10:1\n 1: 5\n !Attributes: 2\n", "main:10:1\n 1: 5\n !Attributes: 1\nf:1:1\n !Attributes: 3\n"},
		{"main:10:1\n 1: 5\n", "main:10:1\n 1: 5\n !Attributes: 1\n"},
	}
	for _, c := range cases[:testenv.Rounds(2, len(cases))] {
		want := string(l.merge([]string{"--text"}, []byte(c.a), []byte(c.b)))
		p := parse(t, c.a)
		_, err := p.Merge(parse(t, c.b), one)
		require.NoError(t, err)
		assert.Equal(t, want, textOf(t, p), "%s\nand\n%s", c.a, c.b)
		q := decoded(t, extBinary(t, parse(t, c.a), WriteOptions{}))
		r, err := OpenBytes(extBinary(t, parse(t, c.b), WriteOptions{}))
		require.NoError(t, err)
		_, err = q.Merge(r, one)
		require.NoError(t, err)
		assert.Equal(t, want, textOf(t, q))
	}
	large := "main:18446744073709551000:3\n 1: 5 f:9223372036854775807\n 2: 9223372036854775807\n"
	want := string(l.merge([]string{"--text", "--weighted-input=3," + l.file([]byte(large))}))
	p := new(Profile)
	_, err := p.Merge(parse(t, large), profile.Ratio{Num: 3, Den: 1})
	require.NoError(t, err)
	require.Equal(t, want, textOf(t, p))
}

// TestMixedKindsAsLLVM checks that both LLVM and this package refuse to merge a plain profile with
// a probe-based one.
func TestMixedKindsAsLLVM(t *testing.T) {
	l := newLLVM(t)
	plain, probes := "main:1:1\n 1: 1\n", "main:1:1\n 1: 1\n !CFGChecksum: 4\n"
	_, _, err := l.tryMerge([]string{"--text"}, []byte(plain), []byte(probes))
	require.Error(t, err)
	p := parse(t, plain)
	_, err = p.Merge(parse(t, probes), one)
	require.ErrorIs(t, err, ErrMixed)
}
