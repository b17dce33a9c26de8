package memprof

import (
	"iter"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Source is a profile that can be printed, merged and written: a [Reader] or a [Profile].
type Source interface {
	// Schema returns the fields of each block. The caller must not change it.
	Schema() Schema

	// Records iterates over the records of all functions. An error ends the iteration.
	Records() iter.Seq2[Record, error]

	// Frames iterates over the frames of a call stack, leaf first. An error ends the iteration.
	Frames(StackID) iter.Seq2[Frame, error]

	// Summary returns the stored summary, or computes it from all records.
	Summary() (*Summary, error)

	// DataAccess returns the data access profile, nil if there is none. The caller must not change
	// it.
	DataAccess() (*DataAccess, error)

	maxFrames() int64 // limit on the frames of a walk over all records
}

// A walk reads the call stacks of all records of a profile. It returns an error after too many
// frames, because a few bytes of a section can encode many frames.
type walk struct {
	src  Source
	left int64
	buf  []byte
}

func newWalk(src Source) *walk { return &walk{src: src, left: src.maxFrames()} }

// frames calls each for every frame of a call stack. The first frame is the leaf, which allocates.
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
