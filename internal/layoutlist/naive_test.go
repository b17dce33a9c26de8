package list_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	list "github.com/go-afdo/afdo/internal/layoutlist"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// naive parses a list of version 1 as LLVM's documentation describes it. A line is a letter and
// words, and all lines up to the next function belong to the latest function. ok is false for a
// list that clang rejects.
func naive(text string) (functions []list.Function, ok bool) {
	block := regexp.MustCompile(`^(\d+)(?:\.(\d+))?$`)
	number := func(word string) uint32 { n, _ := strconv.ParseUint(word, 10, 32); return uint32(n) }
	module, names, blocks := "", map[string]bool{}, map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "v1\n"), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.ContainsAny(words[0][:1], "#@") {
			continue
		}
		if letter := words[0][:1]; len(words[0]) > 1 {
			words = append([]string{letter, words[0][1:]}, words[1:]...)
		}
		last := len(functions) - 1
		if last < 0 && !strings.Contains("mf", words[0]) {
			return nil, false
		}
		switch words[0] {
		case "m":
			module = strings.TrimPrefix(words[1], "./")
		case "f":
			for _, name := range words[1:] {
				if names[module+" "+name] {
					return nil, false
				}
				names[module+" "+name] = true
			}
			functions = append(functions, list.Function{Module: module, Names: words[1:]})
			module, blocks = "", map[string]bool{}
		case "c":
			var cluster []list.Block
			for _, word := range words[1:] {
				parts := block.FindStringSubmatch(word)
				if parts == nil || blocks[word] {
					return nil, false
				}
				blocks[word] = true
				cluster = append(cluster, list.Block{ID: number(parts[1]), Clone: number(parts[2])})
			}
			functions[last].Clusters = append(functions[last].Clusters, cluster)
		case "h":
			for _, word := range words[1:] {
				id, hash, _ := strings.Cut(word, ":")
				value, err := strconv.ParseUint(hash, 16, 64)
				if err != nil {
					return nil, false
				}
				functions[last].Hashes = append(functions[last].Hashes, list.Hash{ID: number(id), Hash: value})
			}
		case "p", "g", "t":
			functions[last].Other = append(functions[last].Other, strings.Join(words, " "))
		default:
			return nil, false
		}
	}
	return functions, true
}

// randomList returns a list of version 1. One of three lists has a line for which clang may reject
// it.
func randomList(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("v1\n")
	next := 0
	for i := range r.IntN(6) {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "m %s\n", pick("a.c", "./dir/a.cc", "/abs/é.c"))
		}
		fmt.Fprintf(&b, "%sf%sname%d%s\n", pick("", " "), pick(" ", "", "  "), i, pick("", " alias"+strconv.Itoa(i), "\t_Zx@v"+strconv.Itoa(i)))
		for range r.IntN(4) {
			switch r.IntN(5) {
			case 0, 1:
				b.WriteString("c" + pick(" ", ""))
				for range 1 + r.IntN(4) {
					next++
					fmt.Fprintf(&b, "%d%s%s", next, pick("", "", ".1", ".42"), pick(" ", "  "))
				}
				b.WriteByte('\n')
			case 2:
				fmt.Fprintf(&b, "h %d:%x %d:%X\n", next, r.Uint64(), next+1, r.Uint64())
			case 3:
				b.WriteString(pick("p 3 4\n", "g 0:10,2:10 2:5\n", "t 0,1 2.1,0\n"))
			case 4:
				b.WriteString(pick("# c 1 1\n", "@ f\n", "\n", "   \n"))
			}
		}
	}
	if r.IntN(3) == 0 {
		b.WriteString(pick("f name0\n", "m a.c\nf name1\n", "f x\nc 1 1\n", "f x\nc 1.1 1\n", "x 1\n", "c 1\n", "f y\nh 1:zz\n", "f y\nc -1\n", "f z z\n"))
	}
	return b.String()
}

// For random lists, Parse returns the same result as the naive parser. Writing and parsing the list
// again gives the same list.
func TestNaive(t *testing.T) {
	const seed = 631130
	r := rand.New(rand.NewPCG(seed, 0))
	refused := 0
	for range testenv.Rounds(3_000, 200_000) {
		text := randomList(r)
		want, ok := naive(text)
		got, err := parse(text)
		if !ok {
			require.Error(t, err, "%q", text)
			refused++
			continue
		}
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got.Functions, "%q", text)
		again, ok := naive(write(t, got, list.V1))
		require.True(t, ok, "%q", text)
		require.True(t, slices.EqualFunc(want, again, func(a, b list.Function) bool { return fmt.Sprint(a) == fmt.Sprint(b) }), "%q", text)
	}
	assert.NotZero(t, refused)
	t.Logf("%d lists refused", refused)
}
