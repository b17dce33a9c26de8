package list_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/layoutlist"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const text = `# made by hand
v1
m ./dir/a.cc
f one alias
c 0 2.1 3
c 5
h 0:12 5:ff00ff00ff00ff00
g 0:10,2:10
f two
@ anything
`

func parse(s string) (*list.List, error) { return list.Parse(strings.NewReader(s)) }

func write(t *testing.T, l *list.List, version int) string {
	var out bytes.Buffer
	require.NoError(t, l.Write(&out, version))
	return out.String()
}

func TestParse(t *testing.T) {
	l, err := parse(text)
	require.NoError(t, err)
	assert.Equal(t, &list.List{Functions: []list.Function{
		{
			Module: "dir/a.cc", Names: []string{"one", "alias"}, Clusters: [][]list.Block{{{ID: 0}, {ID: 2, Clone: 1}, {ID: 3}}, {{ID: 5}}},
			Hashes: []list.Hash{{0, 0x12}, {5, 0xff00ff00ff00ff00}}, Other: []string{"g 0:10,2:10"},
		},
		{Names: []string{"two"}},
	}}, l)
	assert.Equal(t, "v1\nm dir/a.cc\nf one alias\nc 0 2.1 3\nc 5\nh 0:12 5:ff00ff00ff00ff00\ng 0:10,2:10\nf two\n", write(t, l, list.V1))

	l, err = parse("!one/alias M=./a.cc\n!!0 2\n!!3\n!two\n")
	require.NoError(t, err)
	assert.Equal(t, "v1\nm a.cc\nf one alias\nc 0 2\nc 3\nf two\n", write(t, l, list.V1))
	l.Functions[0].Module = ""
	assert.Equal(t, "!one/alias\n!!0 2\n!!3\n!two\n", write(t, l, list.V0))

	l, err = parse("v1\nf a\nc0 1 2\n") // as llvm-propeller's golden files have it
	require.NoError(t, err)
	assert.Equal(t, "v1\nf a\nc 0 1 2\n", write(t, l, list.V1))
}

// Parse returns an error with the line for a list that clang would reject.
func TestCorrupt(t *testing.T) {
	for in, want := range map[string]struct {
		class error
		line  int
	}{
		"v2\n":                  {afdo.ErrVersion, 1},
		"v1\nf a\nf a\n":        {list.ErrList, 3},
		"v1\nf a b\nf b\nf c\n": {list.ErrList, 3},
		"v1\nf a\nc 0 1 0\n":    {list.ErrList, 2},
		"v1\nf a\nc 0 1\nc 1\n": {list.ErrList, 2},
		"v1\nf a\nc\n":          {list.ErrList, 2},
		"v1\nf\n":               {list.ErrList, 2},
		"v1\nc 0\n":             {afdo.ErrSyntax, 2},
		"v1\nf a\nx 0\n":        {list.ErrList, 3},
		"v1\nf a\nc 0 x\n":      {afdo.ErrSyntax, 3},
		"v1\nf a\nc 0 1.x\n":    {afdo.ErrSyntax, 3},
		"v1\nf a\nc 4294967296": {afdo.ErrSyntax, 3},
		"v1\nf a\nc -1\n":       {afdo.ErrSyntax, 3},
		"v1\nf a\nh 0:xyz\n":    {list.ErrList, 3},
		"v1\nf a\nh 0\n":        {list.ErrList, 3},
		"!a\n!!0 0\n":           {list.ErrList, 1},
		"v1\nf a\ng 0 1\n":      {list.ErrList, 3},
		"v1\nf a\ng 0:1,1:\n":   {list.ErrList, 3},
		"v1\nf a\np 0 x\n":      {list.ErrList, 3},
		"v1\nf a\nt 0\n":        {list.ErrList, 3},
		"v1\nf a\np 0 1 1\n":    {list.ErrList, 3},
		"v1\nf a\nt\n":          {list.ErrList, 3},
		"v1\nm a b.c\nf a\n":    {afdo.ErrSyntax, 2},
		"!a M=\n":               {afdo.ErrSyntax, 1},
		"!a M=.//\n":            {afdo.ErrSyntax, 1},
		"!!0\n":                 {afdo.ErrSyntax, 1},
		"a\n":                   {afdo.ErrSyntax, 1},
	} {
		_, err := parse(in)
		var fault *afdo.FormatError
		if assert.ErrorAs(t, err, &fault, "%q", in) {
			assert.ErrorIs(t, err, want.class, "%q", in)
			assert.Equal(t, want.line, fault.Line, "%q", in)
		}
	}
}

func TestUnrepresentable(t *testing.T) {
	for _, one := range []list.Function{
		{}, {Names: []string{""}}, {Names: []string{"a b"}}, {Names: []string{"a", "a"}}, {Names: []string{"a"}, Clusters: [][]list.Block{{{ID: 1}, {ID: 1}}}},
		{Names: []string{"a"}, Clusters: [][]list.Block{{}}}, {Names: []string{"a"}, Module: "a b.c"},
	} {
		l := list.List{Functions: []list.Function{one}}
		assert.ErrorIs(t, l.Write(new(bytes.Buffer), list.V1), afdo.ErrUnrepresentable, "%v", one)
	}
	for _, one := range []list.Function{{Names: []string{"a/b"}}, {Names: []string{"a"}, Module: "m"}, {Names: []string{"a"}, Other: []string{"p 0 1"}}} {
		l := list.List{Functions: []list.Function{one}}
		assert.NoError(t, l.Write(new(bytes.Buffer), list.V1))
		assert.ErrorIs(t, l.Write(new(bytes.Buffer), list.V0), afdo.ErrUnrepresentable, "%v", one)
		assert.ErrorIs(t, l.Write(new(bytes.Buffer), 2), afdo.ErrUnrepresentable)
	}
}

// FuzzList parses any text. If Parse accepts it, writing and parsing the list again gives the same
// list.
func FuzzList(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte("!one/alias M=./a.cc\n!!0 2\n!!3\n"))
	f.Add([]byte("!0 M=././"))
	f.Add([]byte("!1 M=././/a.cc\n"))
	f.Add([]byte("!0 M=./ 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := list.Parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		if slices.ContainsFunc(l.Functions, func(f list.Function) bool { return f.Module != "" && !list.IsName(f.Module) }) {
			require.ErrorIs(t, l.Write(new(bytes.Buffer), list.V1), afdo.ErrUnrepresentable)
			return
		}
		once := write(t, l, list.V1)
		again, err := parse(once)
		require.NoError(t, err)
		require.Equal(t, once, write(t, again, list.V1))
	})
}

// FuzzLayoutNames writes lists with any bytes as the names of functions and of a source file. Write
// rejects them, or Parse reads the same names back.
func FuzzLayoutNames(f *testing.F) {
	for _, name := range []string{"a", "!2", "a/b", " a", "M=x", "#a", "@a", "v1", "a\u00a0b", "./a.c", "\xff", "a\u2028", "c0"} {
		f.Add(name, "b", "", byte(0))
		f.Add("b", name, "", byte(1))
		f.Add("a", "b", name, byte(1))
	}
	f.Fuzz(func(t *testing.T, first, second, module string, version byte) {
		l := &list.List{Functions: []list.Function{
			{Names: []string{first, second}, Module: module, Clusters: [][]list.Block{{{ID: 0}, {ID: 2}}}},
			{Names: []string{"last"}},
		}}
		var text bytes.Buffer
		if err := l.Write(&text, int(version%2)); err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			return
		}
		again, err := parse(text.String())
		require.NoError(t, err, "%q", text.String())
		l.Functions[0].Module = again.Functions[0].Module // without ./
		require.True(t, strings.HasSuffix(module, again.Functions[0].Module))
		require.Equal(t, l, again, "%q", text.String())
	})
}

// clang accepts the lists that Write writes, in both versions.
func TestClang(t *testing.T) {
	clang := testenv.Tool(t, "clang-22")
	dir := t.TempDir()
	source, path := filepath.Join(dir, "a.c"), filepath.Join(dir, "list")
	require.NoError(t, os.WriteFile(source, []byte("int g(int); int two(int n) { if (n) return g(n) + 1; return 3; }\n"), 0o666))
	l, err := parse("v1\nf two\nc 0 1\nh 0:12\ng 0:1,1:1\np 0 1\nt 0,1 1,0\nf other\nc 0 9 7\n")
	require.NoError(t, err)
	plain := &list.List{Functions: []list.Function{{Names: []string{"two"}, Clusters: [][]list.Block{{{ID: 0}, {ID: 1}}}}}}
	for version, l := range []*list.List{plain, l} {
		require.NoError(t, os.WriteFile(path, []byte(write(t, l, version)), 0o666))
		out, err := exec.Command(clang, "-O1", "-S", "-fbasic-block-sections=list="+path, source, "-o", "-").CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "two.cold", "version %d", version)
	}
}
