package doccheck

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An annotator lists the fields of a version 4 file, one per line: offset, bytes, value and the
// name in the RFC. It has a simple decoder of its own, and does not check the file.
type annotator struct {
	data    []byte
	pos     int
	compact bool
	lines   strings.Builder
}

// annotate returns the lines for the header, and then those for each section by its index.
func annotate(data []byte) []string {
	a := &annotator{data: data}
	offsets := a.header()
	texts := []string{a.take()}
	for _, offset := range offsets {
		a.pos = offset
		a.section()
		texts = append(texts, a.take())
	}
	return texts
}

func (a *annotator) take() string {
	defer a.lines.Reset()
	return a.lines.String()
}

func (a *annotator) row(n int, value, name string) {
	fmt.Fprintf(&a.lines, "%04x  %-23s  %-14s  %s\n", a.pos, fmt.Sprintf("% x", a.data[a.pos:a.pos+n]), value, name)
	a.pos += n
}

func (a *annotator) uint(width int, name string) uint64 {
	if a.compact {
		v, n := binary.Uvarint(a.data[a.pos:])
		a.row(n, strconv.FormatUint(v, 10), name)
		return v
	}
	var v uint64
	for _, b := range a.data[a.pos : a.pos+width] {
		v = v<<8 | uint64(b)
	}
	text := strconv.FormatUint(v, 10)
	if v == 0xFFFFFFFF {
		text = "0xffffffff"
	}
	a.row(width, text, name)
	return v
}

func (a *annotator) bitmask(name string) byte {
	mask := a.data[a.pos]
	a.row(1, fmt.Sprintf("0x%02x", mask), name)
	return mask
}

func (a *annotator) text(n uint64, name string) {
	s := strconv.Quote(string(a.data[a.pos : a.pos+int(n)]))
	a.row(int(n), strings.ReplaceAll(s, `\x00`, `\0`), name)
}

// header lists the fields of the header, and returns the offsets of all sections in ascending
// order.
func (a *annotator) header() []int {
	var offsets []int
	place := func(what string) {
		offsets = append(offsets, int(a.uint(8, what+"_OFFSET")))
		a.uint(8, what+"_SIZE")
	}
	a.text(4, "GCOV_MAGIC")
	a.uint(4, "GCOV_VERSION")
	a.compact = a.bitmask("GCOV_HEADER_BITMASK")&0x80 != 0
	n := a.uint(7, "GCOV_NUM_SECTIONS")
	place("GCOV_SUMMARY")
	place("GCOV_FILE_NAMES")
	for range n {
		place("GCOV_SECTION")
	}
	slices.Sort(offsets)
	return offsets
}

func (a *annotator) section() {
	mask := a.bitmask("GCOV_SECTION_BITMASK")
	a.compact = mask&0x80 != 0
	switch mask & 0x7f {
	case 1:
		a.uint(4, "GCOV_NUM_STRINGS")
		a.node()
	case 2:
		for _, name := range []string{"TOTAL_COUNT", "MAX_COUNT", "MAX_FN_COUNT", "NUM_COUNTS", "NUM_FUNCTIONS"} {
			a.uint(8, "SUMMARY_"+name)
		}
		for range a.uint(8, "SUMMARY_NUM_DETAILED_ENTRIES") {
			a.uint(4, "ENTRY_CUTOFF")
			a.uint(8, "ENTRY_MIN_COUNT")
			a.uint(8, "ENTRY_NUM_COUNTS")
		}
	case 3:
		for range a.uint(4, "GCOV_NUM_FILE_NAMES") {
			a.text(a.uint(4, "FILE_NAME_STRING_LENGTH"), "FILE_NAME_STRING_CONTENT")
			a.uint(4, "STRING_TABLE_SECTION_INDEX")
			a.uint(4, "SYMBOL_NAMES_SECTION_INDEX")
			a.uint(4, "SYMBOL_ID_START")
			a.uint(4, "SYMBOL_ID_END")
		}
	case 4:
		for range a.uint(4, "GCOV_NUM_SYMBOL_NAMES") {
			a.uint(4, "SYMBOL_NAME_STRING_INDEX")
			a.uint(4, "SYMBOL_ID")
			a.uint(4, "SYMBOL_INFO_SECTION_INDEX")
		}
	case 5:
		a.uint(8, "SYMBOL_HEAD_COUNT")
		a.uint(8, "SYMBOL_TIMESTAMP")
		a.locations()
	}
}

func (a *annotator) node() {
	mask := a.bitmask("TRIE_NODE_BITMASK")
	if mask&0x80 != 0 {
		a.uint(4, "TRIE_TERMINAL_ID")
	}
	for range mask & 0x7f {
		a.text(a.uint(2, "TRIE_EDGE_LABEL_LENGTH"), "TRIE_EDGE_LABEL")
		a.node()
	}
}

func (a *annotator) locations() {
	for range a.uint(4, "SYMBOL_NUM_LOCATIONS") {
		mask := a.bitmask("LOCATION_BITMASK")
		a.uint(3, "LOCATION_LINE_OFFSET")
		if mask&0x80 != 0 {
			a.uint(2, "LOCATION_DISCRIMINATOR")
		}
		switch mask & 0x7f {
		case 2:
			a.uint(4, "LOCATION_COUNT")
		case 3:
			a.uint(8, "LOCATION_COUNT")
		case 4:
			a.target()
		case 5:
			for range a.uint(4, "LOCATION_CALLED_TARGETS") {
				a.target()
			}
		case 6:
			a.uint(4, "INLINED_SYMBOL_ID")
			a.locations()
		}
	}
}

func (a *annotator) target() {
	a.uint(4, "LOCATION_CALLED_FN_INDEX")
	a.uint(8, "LOCATION_CALLED_FN_COUNT")
}
