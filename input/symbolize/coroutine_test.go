package symbolize

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamedLike(t *testing.T) {
	for name, want := range map[string]bool{"add": true, "add<long>": true, "addition": false, "ad": false, "": false} {
		assert.Equal(t, want, (&Function{Name: "add"}).isNamedLike(&Function{Name: name}), name)
	}
}

func TestCoroutineOf(t *testing.T) {
	for symbol, want := range map[string][2]string{
		"_Z7numbersP17_Z7numbersl.Frame.actor":              {"_Z7numbersl", "_Z7numbersP17_Z7numbersl.Frame.actor"},
		"_Z7numbersP17_Z7numbersl.Frame.actor.cold":         {"_Z7numbersl", "_Z7numbersP17_Z7numbersl.Frame.actor"},
		"_Z7numbersPZ7numberslE17_Z7numbersl.Frame.destroy": {"_Z7numbersl", "_Z7numbersPZ7numberslE17_Z7numbersl.Frame.actor"},
		"_ZN1a1bEP14_ZN1a1bEi.Frame.destroy":                {"", ""}, // another length
		"_Z7numbersl":                                       {"", ""},
		".Frame.actor":                                      {"", ""},
		"99999999999999999999_Z7numbersl.Frame.actor":       {"", ""},
		"_Z1fILi3EEvP17_Z1fILi3EEv.Frame.actor":             {"_Z1fILi3EEv", "_Z1fILi3EEvP17_Z1fILi3EEv.Frame.actor"},
	} {
		coroutine, actor := coroutineOf(symbol)
		assert.Equal(t, want, [2]string{coroutine, actor}, symbol)
	}
}
