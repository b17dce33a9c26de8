package slice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A refreshed is a program that is recorded twice. Each of its sources defines a class, and all
// these classes have functions of the same names. Each source mentions all classes, and contains
// one other class, of which it has inlined a function.
type refreshed struct {
	profile *profile.Profile
	texts   []*Text
}

func newRefreshed(sources int, counts func(source int) uint64) refreshed {
	r := refreshed{profile: profile.New()}
	header := new(strings.Builder)
	for i := range sources {
		fmt.Fprintf(header, "class Class%d;\n", i)
	}
	inlined := r.profile.AddSymbol(r.profile.AddUnit("include/inline.h"), "_ZN6Shared3getEv")
	for i := range sources {
		next := (i + 1) % sources
		text := header.String() + "class Shared { int get() { return 1; } };\n"
		for _, class := range []int{i, next} {
			text += fmt.Sprintf("class Class%d { Class%d(); int run(); void clear() { } };\n", class, class)
		}
		r.texts = append(r.texts, textOf(text+fmt.Sprintf("Class%d::Class%d() { }\nint Class%d::run() { }\nstatic int helper%d() { }\n", i, i, i, i)))
		file := r.profile.AddUnit(fmt.Sprintf("src/class%d.cc", i))
		for _, name := range []string{"C2", "3run", "5clear"} {
			var body profile.Body
			body.Count(1, 0, counts(i))
			body.Enter(2, 0, inlined)
			body.Count(3, 0, 1000)
			body.Leave()
			symbol := fmt.Sprintf("_ZN%dClass%d%sEv", len("Class")+len(fmt.Sprint(i)), i, name)
			r.profile.AddFunction(r.profile.AddSymbol(file, symbol), profile.Function{HeadCount: counts(i), Records: body.Records()})
		}
	}
	r.profile.Summary = &afdo.Summary{}
	return r
}

// TestChurn changes the counts of two of many sources, and counts the slices that change. Only the
// slices of these two may change, and the slices of sources that contain the same classes.
func TestChurn(t *testing.T) {
	const sources = 38
	again := func(source int) bool { return source == 7 || source == 20 }
	before := newRefreshed(sources, func(int) uint64 { return 5 })
	after := newRefreshed(sources, func(source int) uint64 {
		if again(source) {
			return 6
		}
		return 5
	})
	for _, target := range []Target{Version2, Version3} {
		a, b := FromProfile(before.profile), FromProfile(after.profile)
		for i, text := range before.texts {
			x, err := a.Select(Request{Text: text, Target: target})
			require.NoError(t, err)
			y, err := b.Select(Request{Text: text, Target: target})
			require.NoError(t, err)
			changed := profile.Compare(x, y) != nil
			assert.Equal(t, again(i) || again(i+1), changed, "version %d, source %d", target, i)
		}
	}
}
