package check

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/textfmt"
)

// File checks an uncompressed profile of any format, which it detects from the first bytes. It uses
// [V4], [gcov.Check], [textfmt.Check], or the Check methods of LLVM's readers. For formats without
// such a check, it yields the first error.
func File(data []byte, o Options) iter.Seq[afdo.Problem] {
	format, err := anyprof.DetectBytes(data)
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

// counters yields the problems of a .gcda file. If notes, the contents of the .gcno file, are not
// nil, it compares the functions of the two files.
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

// A fileReader is a reader of LLVM's profiles that can check its file.
type fileReader interface{ Check() iter.Seq[afdo.Problem] }

// opened yields the problems that the reader r finds in its file. If opening the file failed with
// err, it yields err instead.
func opened[R fileReader](r R, err error) iter.Seq[afdo.Problem] {
	if err != nil {
		return only(err)
	}
	return r.Check()
}

// only yields err as the only problem of a file. It yields nothing if err is nil.
func only(err error) iter.Seq[afdo.Problem] {
	return func(yield func(afdo.Problem) bool) {
		if err != nil {
			yield(afdo.Problem{Err: err})
		}
	}
}
