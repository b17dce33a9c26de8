package sampleprof

import (
	"bytes"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/symname"
)

// TestFindInMemory makes the same lookups in a Profile and in a Reader of its file. Both must
// return the same functions.
func TestFindInMemory(t *testing.T) {
	for _, text := range []string{
		"main:100:3\n 1: 10\n 2.1: 20 f:15 g:5\n 3: callee:60\n  1: 40\nf:17:17\n 0: 17\n",
		"[main:3.1 @ f:2 @ g]:7:2\n 1: 7\n[main]:5:1\n 1: 5\n 2: 3 g:3\n[g]:9:1\n 1: 9\n[main:4 @ g]:11:1\n 1: 11\n",
	} {
		p, err := ParseTextBytes([]byte(text))
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, WriteExtBinary(&file, p, WriteOptions{}))
		r, err := OpenBytes(file.Bytes())
		require.NoError(t, err)
		found := 0
		for _, name := range []string{
			"main", "f", "g", "callee", "none", "", "[main]", "main:4 @ g", "[main:4 @ g]", "main:3.1 @ f:2 @ g", "main:3 @ f:2 @ g", "main @ g",
		} {
			one := func(s Source, f *Function, err error) []string { return said(t, s, single(f, err)) }
			f, fErr := p.Function(name)
			g, gErr := r.Function(name)
			want := one(r, g, gErr)
			assert.Equal(t, want, one(p, f, fErr), name)
			f, fErr = p.FunctionByGUID(symname.GUID(name))
			g, gErr = r.FunctionByGUID(symname.GUID(name))
			assert.Equal(t, one(r, g, gErr), one(p, f, fErr), name)
			assert.Equal(t, said(t, r, r.Contexts(name)), said(t, p, p.Contexts(name)), name)
			found += len(want)
		}
		assert.NotZero(t, found)
	}
}

func single(f *Function, err error) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) { yield(f, err) }
}

// said returns each function as the text of a profile that consists of that function. It returns
// nil if the iteration yields no function.
func said(t *testing.T, s Source, functions iter.Seq2[*Function, error]) (all []string) {
	t.Helper()
	for f, err := range functions {
		if err != nil {
			require.ErrorIs(t, err, afdo.ErrNotFound)
			continue
		}
		p := new(Profile)
		require.NoError(t, p.AddFrom(s, f, nil))
		var text bytes.Buffer
		_, err := WriteText(&text, p)
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%s %d", text.String(), f.Total))
	}
	return all
}
