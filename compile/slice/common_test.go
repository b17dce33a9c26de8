package slice

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

func unedited(string, uint32) bool { return false }

// A second and a third text with the same names as the first one get slices with the same symbols,
// also if an inline namespace has another name in them.
func TestNamesAskedAgain(t *testing.T) {
	p := profile.New()
	for _, name := range []string{"_ZN4shop2v13runEv", "_ZN4shop2v13runEi", "_ZN5other3runEv", "_ZNK4shop2v1MUlvE_clEv"} {
		p.AddFunction(p.AddSymbol(p.AddUnit("a.cc"), name), profile.Function{HeadCount: 1})
	}
	program := FromProfile(p)
	for range 3 {
		for text, want := range map[string]int{
			"namespace shop { inline namespace v1 { void run() {} } }": 3,
			"namespace shop { inline namespace v2 { void run() {} } }": 3,
			"namespace other { void run() {} }":                        1,
			"namespace none { void run() {} }":                         0,
		} {
			s, err := program.Select(Request{Text: textOf(text), Target: Version3, Edited: unedited})
			require.NoError(t, err)
			assert.Equal(t, want, s.NumFunctions(), text)
		}
	}
}

// TestNamesWhileSelecting computes keys of names while another goroutine selects the first slice,
// so that the race detector finds tables that both write.
func TestNamesWhileSelecting(t *testing.T) {
	p := profile.New()
	for i := range 500 {
		p.AddFunction(p.AddSymbol(p.AddUnit("a.cc"), fmt.Sprintf("_ZN1NIXadL_Z1fvEEE4run%dEv", i)), profile.Function{HeadCount: 1})
	}
	program := FromProfile(p)
	done := make(chan error)
	go func() {
		_, err := program.Select(Request{Text: textOf("void run() {}"), Target: Version3, Edited: unedited})
		done <- err
	}()
	for i := range 500 {
		program.Names().Unqualified(fmt.Sprintf("_ZN1NIXadL_Z1fvEEE4run%dEv", i))
	}
	require.NoError(t, <-done)
}
