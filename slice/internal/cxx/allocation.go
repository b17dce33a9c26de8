package cxx

import (
	"bytes"
	"strings"

	"github.com/go-afdo/afdo/internal/cpp"
)

// Allocation is what Definitions notes for a function operator new or operator delete that a text
// defines, and Placement for one that is certainly of the form that gives memory its caller has:
// <new> defines those, so nearly every text of C++ has some.
const (
	Allocation = "operator new"
	Placement  = "operator new(placement)"
)

// AllocationOf returns which of [Allocation] and [Placement] a text has to define that defines a
// function of a mangled name, empty for all other functions. One that defines an Allocation may
// define a Placement as well.
func AllocationOf(name string) string {
	if !strings.Contains(name, "nw") && !strings.Contains(name, "na") && !strings.Contains(name, "dl") && !strings.Contains(name, "da") {
		return ""
	}
	switch unqualified(name) {
	case "operator new", "operator new[]":
		if strings.HasSuffix(name, "Pv") && strings.IndexByte("jmy", name[len(name)-3]) >= 0 {
			return Placement
		}
		return Allocation
	case "operator delete", "operator delete[]":
		first, second := strings.CutSuffix(name, "_")
		first = strings.TrimRight(first, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") // S_, S0_ and so on
		first = strings.TrimSuffix(strings.TrimSuffix(first, "Pv"), "E")
		if second && (strings.HasSuffix(first, "dl") || strings.HasSuffix(first, "da")) {
			return Placement
		}
		return Allocation
	}
	return ""
}

// allocation reads the rest of the name of operator new or delete, and returns whether it is one.
func (d *scanner) allocation(word []byte, end int) bool {
	if string(word) != "new" && string(word) != "delete" {
		return false
	}
	if pair, after := bracketPair(bytes.TrimLeft(d.Text[end:], " \t\r\n")); pair == "[]" {
		end = len(d.Text) - len(after)
	}
	d.Pos, d.word = end, []byte(Allocation)
	return true
}

// placed returns Placement for the name of an allocation whose parameters are a first one and
// "void *", and else the name.
func placed(name, parameters []byte) []byte {
	if string(name) != Allocation {
		return name
	}
	_, second, _ := bytes.Cut(parameters, []byte{','})
	pointer, ok := bytes.CutPrefix(bytes.TrimLeft(second, " \t\r\n"), []byte("void"))
	if !ok {
		return name
	}
	pointer, ok = bytes.CutPrefix(bytes.TrimLeft(pointer, " \t\r\n"), []byte{'*'})
	if pointer = bytes.TrimSpace(pointer); ok && cpp.WordLength(pointer) == len(pointer) {
		return []byte(Placement)
	}
	return name
}
