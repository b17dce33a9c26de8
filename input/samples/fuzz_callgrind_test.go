package samples_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
)

// A costWriter writes a callgrind file, with any of the encodings that the format allows. It also
// adds up the counts that a reader must find in the file.
type costWriter struct {
	text    bytes.Buffer
	want    samples.Set
	ours    bool
	address uint64
	named   map[string]bool // names that have a number

	// lines are the cost lines so far. A second cost line in a row for the address of a call is the
	// cost of a stub, unless calls follow it.
	lines   []costLine // of the object, since it was named
	pending uint64     // the cost of the last line, if it may be that of a stub
}

// A costLine is a cost line: of an instruction, of a call, or of what may be a stub.
type costLine struct {
	at         uint64
	call, stub bool
}

// own records a cost line of an instruction at an address. It reports whether the line may be the
// cost of a stub.
func (w *costWriter) own(at uint64) (stub bool) {
	for i := len(w.lines) - 1; i >= 0; i-- {
		if last := w.lines[i]; !last.call {
			stub = last.at == at && !last.stub && slices.Contains(w.lines, costLine{at: at, call: true})
			break
		}
	}
	w.lines = append(w.lines, costLine{at: at, stub: stub})
	return stub
}

var costObjects = []string{"/tmp/ours", "/lib/other.so", ""}

func (w *costWriter) part() {
	w.text.WriteString("positions: instr line\nevents: Dr Ir\n")
}

// name writes a line with a name. numbered says whether the name has a number.
func (w *costWriter) name(key string, i int, numbered bool) {
	name := costObjects[i]
	switch {
	case !numbered || name == "":
		fmt.Fprintf(&w.text, "%s=%s\n", key, name)
	case w.named[name]:
		fmt.Fprintf(&w.text, "%s=(%d)\n", key, i+1)
	default:
		fmt.Fprintf(&w.text, "%s=(%d) %s\n", key, i+1, name)
		w.named[name] = true
	}
}

// position returns an address as text, absolute or relative to the last address. how selects the
// encoding.
func (w *costWriter) position(how byte, to uint64) string {
	switch {
	case to == w.address && how%4 == 0:
		return "*"
	case to >= w.address && how%4 == 1:
		return fmt.Sprintf("+%d", to-w.address)
	case to <= w.address && how%4 == 1:
		return fmt.Sprintf("-0x%x", w.address-to)
	case how%4 == 2:
		return fmt.Sprintf("%d", to)
	}
	return fmt.Sprintf("0x%x", to)
}

// cost writes a cost line. how selects the encoding of the address.
func (w *costWriter) cost(how byte, at, count uint64) {
	fmt.Fprintf(&w.text, "%s +1 7", w.position(how, at))
	if count > 0 || how&4 != 0 {
		fmt.Fprintf(&w.text, " %d", count)
	}
	w.text.WriteString("\n")
	w.address = at
}

// step writes a few lines. The four bytes of b select which ones.
func (w *costWriter) step(b []byte) {
	how, at, count := b[1], w.address+uint64(int8(b[2])), uint64(b[3])
	at %= 1 << 20
	switch b[0] % 6 {
	case 0, 1:
		w.cost(how, at, count)
		w.pending = 0
		switch stub := w.own(at); {
		case stub:
			w.pending = count
		case w.ours && count > 0:
			w.want.Addresses.Add(at, count)
		}
	case 2:
		w.lines, w.pending = nil, 0
		object := int(b[3]) % len(costObjects)
		w.name("ob", object, how&8 != 0)
		w.ours = object == 0
	case 3:
		w.call(how, at, count)
	case 4:
		w.pending = 0
		fmt.Fprintf(&w.text, "jcnd=3/7 %s 8\n", w.position(how>>4, at+1))
		w.cost(how, at, count)
	case 5:
		w.text.WriteString("totals: 1 2\n\n")
		w.part()
	}
}

// call writes the lines of a call and the cost line that follows them.
func (w *costWriter) call(how byte, at, count uint64) {
	if w.pending > 0 && w.ours {
		w.want.Addresses.Add(w.address, w.pending)
	}
	if w.pending > 0 {
		w.lines[len(w.lines)-1].stub = false
	}
	w.pending = 0
	target, ours := uint64(0x4000)+count, w.ours
	if how&8 != 0 {
		object := int(how>>4) % len(costObjects)
		w.name("cob", object, how&16 != 0)
		ours = object == 0
	}
	fmt.Fprintf(&w.text, "calls=%d %s 3\n", count, w.position(how>>5, target))
	w.cost(how, at, 500)
	w.lines = append(w.lines, costLine{at: at, call: true})
	switch {
	case ours && w.ours:
		w.want.Branches.Add(samples.Branch{From: at, To: target}, count)
	case ours:
		w.want.Entries.Add(target, count)
	}
}

// Read finds the same counts in a callgrind file, whichever of the allowed encodings the file uses.
func FuzzCostLines(f *testing.F) {
	for i := range byte(8) {
		f.Add([]byte{2, 8, 0, 0, i, 1, 4, 9, 1, 4 + i, 252, 3, 3, 8 * i, 2, 7, 5, 0, 0, 0, 2, i, 0, 1, 3, 8 + i<<5, 2, 7, 4, 3, 1, 1})
	}
	f.Add([]byte("\b\x04\xff\xff\x04\x01\x04\xff\xff\x04\xfc\x03\x00\x00\x00\a"))
	f.Add([]byte("\x01\x04\xff\xff\b\x04\xff\xff\x04\x01\x04\xff\xff\x04\xfc\x03\x00\x00\x00\a"))
	f.Add([]byte{2, 8, 0, 0, 1, 4, 9, 1, 3, 8, 0, 7, 1, 0, 0, 5, 3, 8, 0, 2, 1, 0, 0, 6})
	f.Add([]byte("\x02\b\x00\x00\x01\x04\t\x01\x03\b\x00\a\x01\x00\x00\x05pppp\x03\b\x00\x02\x01\x00\x00\x06"))
	b := plain(f, "ours", elf.ET_DYN)
	f.Fuzz(func(t *testing.T, steps []byte) {
		w := costWriter{named: make(map[string]bool)}
		w.part()
		for ; len(steps) >= 4; steps = steps[4:] {
			w.step(steps)
		}
		w.text.WriteString("totals: 1 2\n")
		s, _, err := samples.Read(bytes.NewReader(w.text.Bytes()), b, samples.Options{Format: samples.Callgrind})
		if errors.Is(err, afdo.ErrNotFound) {
			require.Zero(t, w.want.Addresses.Len())
			return
		}
		require.NoError(t, err, "%s", w.text.Bytes())
		require.Equal(t, text(t, &w.want), text(t, s), "%s", w.text.Bytes())
	})
}
