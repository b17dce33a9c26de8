package memprof

import (
	"iter"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Source is a profile that can be printed, added up and written: a [Reader] or a [Profile].
type Source interface {
	// Schema returns the fields that blocks have. It must not be changed.
	Schema() Schema

	// Records walks the records of all functions. An error is the last of a walk.
	Records() iter.Seq2[Record, error]

	// Frames walks a call stack, leaf first. An error is the last of a walk.
	Frames(StackID) iter.Seq2[Frame, error]

	// Summary returns the summary, which is computed from all records if none is stored.
	Summary() (*Summary, error)

	// DataAccess returns the data access profile, nil if there is none. It must not be changed.
	DataAccess() (*DataAccess, error)

	maxFrames() int64 // how many frames a walk through all records may meet
}

// A walk through all records of a source, with the frames of their call stacks:
// few bytes can spell many frames, so their number has a limit.
type walk struct {
	src  Source
	left int64
	buf  []byte
}

func newWalk(src Source) *walk { return &walk{src: src, left: src.maxFrames()} }

// frames calls each with the frames of a call stack, leaf first.
func (w *walk) frames(id StackID, each func(Frame)) error {
	for f, err := range w.src.Frames(id) {
		if err != nil {
			return err
		}
		if w.left--; w.left < 0 {
			return tooManyFrames(w.src.maxFrames())
		}
		each(f)
	}
	return nil
}

func tooManyFrames(limit int64) error {
	return faultAt(partCallStacks, -1, fault.ErrLimit, "all call stacks together have more than %d frames", limit)
}
