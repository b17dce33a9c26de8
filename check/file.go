package check

import (
	"bytes"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/llvm/instrprof"
	"github.com/go-afdo/afdo/llvm/memprof"
	"github.com/go-afdo/afdo/llvm/sampleprof"
	"github.com/go-afdo/afdo/textfmt"
)

// File checks a profile of any format, not compressed, which it knows by its first bytes: as [V4],
// [gcov.Check], [textfmt.Check] and the methods Check of the readers of LLVM's formats do. Of what
// has no such check, the first fault is the only problem.
func File(data []byte, o Options) iter.Seq[afdo.Problem] {
	format, err := anyprof.Detect(data[:min(len(data), anyprof.HeadLen)])
	switch format {
	case anyprof.V4:
		return V4(data, o)
	case anyprof.V3, anyprof.V2:
		return gcov.Check(data)
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

// A fileReader is a reader that checks its file.
type fileReader interface{ Check() iter.Seq[afdo.Problem] }

// opened checks a file that a reader has opened, or has not.
func opened[R fileReader](r R, err error) iter.Seq[afdo.Problem] {
	if err != nil {
		return only(err)
	}
	return r.Check()
}

// only yields the fault that an error is about; nil is none.
func only(err error) iter.Seq[afdo.Problem] {
	return func(yield func(afdo.Problem) bool) {
		if err != nil {
			yield(afdo.Problem{Err: err})
		}
	}
}
