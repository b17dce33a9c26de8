// Package check finds problems in profiles of any format.
//
// [File] reads a whole file of any format. It yields an [afdo.Problem] with its position for
// everything that is wrong or unusual. [Fold] groups problems that repeat.
package check

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
)

// Options configure a check. The zero Options are the default.
type Options struct {
	// Unqualified is the scheme with which the unqualified names in an index are compared, if the
	// index uses the same scheme.
	Unqualified index.Scheme

	// FingerprintScheme and Fingerprints are used to compare the fingerprints in an index, if the
	// index uses the same scheme and the file has no other errors. Fingerprints returns a function
	// that computes the expected fingerprint from the path of a unit. The first difference is an
	// error.
	FingerprintScheme string
	Fingerprints      func(*afdo.Reader) (keyOf func(path string) (uint64, error), err error)

	// OverviewScheme and Overview are used to compare the overview in an index, if the index uses
	// the same scheme and the file has no other errors. Overview returns the expected bytes.
	OverviewScheme string
	Overview       func(*afdo.Reader) ([]byte, error)

	// Notes are the contents of the .gcno file of a .gcda file, with which its functions are
	// compared, or nil.
	Notes []byte

	// MaxNameBytes is the limit on names in bytes, see [afdo.MaxNameBytes]. 0 means the default.
	MaxNameBytes int
}

// maxNameBytes returns the limit on the names of one unit, in bytes.
func (k *checker) maxNameBytes() int {
	return v4.MaxNameBytes(cmp.Or(k.opts.MaxNameBytes, afdo.DefaultMaxNameBytes), int64(len(k.data)))
}

// File checks an uncompressed profile of any format, which it detects from the first bytes. It uses
// [V4], [gcov.Check], [textfmt.Check], or the Check methods of LLVM's readers. For formats without
// such a check, it yields the first error.
func File(data []byte, o Options) iter.Seq[afdo.Problem] {
	format, err := anyprof.Detect(data[:min(len(data), anyprof.HeadLen)])
	switch format {
	case anyprof.V4:
		return V4(data, o)
	case anyprof.V3, anyprof.V2:
		return gcov.Check(data)
	case anyprof.GCDA:
		return counters(data, o.Notes)
	case anyprof.Text:
		return textfmt.Check(data)
	case anyprof.ExtBinary:
		return opened(sampleprof.OpenBytes(data))
	case anyprof.SampleText:
		_, err = sampleprof.ParseTextBytes(data)
	case anyprof.ProfData:
		return opened(instrprof.OpenBytes(data))
	case anyprof.ProfRaw:
		return opened(instrprof.OpenRawBytes(data))
	case anyprof.ProfText:
		return instrprof.CheckText(data)
	case anyprof.MemProf:
		return opened(indexedMemory(data))
	case anyprof.MemProfRaw:
		_, err = memprof.OpenRawBytes(data)
	case anyprof.MemProfYAML:
		_, err = memprof.ParseYAML(bytes.NewReader(data))
	}
	return only(err)
}

// indexedMemory opens the memory profile of an indexed file.
func indexedMemory(data []byte) (*memprof.Reader, error) {
	r, err := instrprof.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	if _, err := r.BinaryIDs(); err != nil {
		return nil, err
	}
	return anyprof.Memory(r)
}

// counters checks the counters of an instrumented program, against notes if there are any.
func counters(data, notes []byte) iter.Seq[afdo.Problem] {
	c, err := gcda.ReadCounters(data)
	if err != nil || notes == nil {
		return only(err)
	}
	n, err := gcda.ReadNotes(notes)
	if err != nil {
		return only(fmt.Errorf("notes: %w", err))
	}
	return gcda.Check(c, n)
}

// A fileReader is a reader with a Check method.
type fileReader interface{ Check() iter.Seq[afdo.Problem] }

// opened runs the check of a reader, or yields the error of opening it.
func opened[R fileReader](r R, err error) iter.Seq[afdo.Problem] {
	if err != nil {
		return only(err)
	}
	return r.Check()
}

// only yields err as the only problem, or nothing if err is nil.
func only(err error) iter.Seq[afdo.Problem] {
	return func(yield func(afdo.Problem) bool) {
		if err != nil {
			yield(afdo.Problem{Err: err})
		}
	}
}

// A Group is a set of problems that differ only in their positions and in the numbers and names in
// their texts.
type Group struct {
	afdo.Problem         // the first problem
	Count        int     // number of problems
	Offsets      []int64 // positions of the next few problems, as far as known
}

const (
	maxOffsets = 8       // per group
	maxGroups  = 1 << 12 // beyond this number, all problems of a class form one group, since a file could otherwise create any number of groups
)

// Fold groups problems, in the order of the first problem of each group. It keeps only the groups
// in memory.
func Fold(problems iter.Seq[afdo.Problem]) []Group {
	var groups []Group
	byKey := make(map[string]int)
	for p := range problems {
		key := keyOf(&p, len(byKey) < maxGroups)
		i, ok := byKey[key]
		if !ok {
			byKey[key] = len(groups)
			groups = append(groups, Group{Problem: p, Count: 1})
			continue
		}
		g := &groups[i]
		g.Count++
		if off := p.Offset(); off >= 0 && len(g.Offsets) < maxOffsets {
			g.Offsets = append(g.Offsets, off)
		}
	}
	return groups
}

// keyOf returns what the problems of a group have in common.
func keyOf(p *afdo.Problem, precise bool) string {
	e, ok := p.Err.(*afdo.FormatError)
	if !ok {
		return p.Err.Error()
	}
	detail := ""
	if precise {
		detail = template(e.Detail)
	}
	return fmt.Sprintf("%v %s %v %s", p.Remark, e.Part, e.Err, detail)
}

// template returns a text without its numbers and quoted names.
func template(text string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted || '0' <= c && c <= '9':
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
