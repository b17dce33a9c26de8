package instrprof

import (
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/llvm/internal/names"
)

// maxNames bounds what the names of a file of some size may inflate to, with 32 bytes for each
// name, what a table of them takes. Names of real programs deflate to a fifth.
func maxNames(size int64) int64 { return 32<<20 + 16*min(size, 1<<40) }

// names reads size bytes of names.
func (f *fields) names(size uint64, fileSize int64, each func([]byte)) {
	sub := fields{base: f.base + int64(f.Pos)}
	sub.Buffer = decode.Buffer{Data: f.Take(size, "the names"), Part: f.Part}
	left := maxNames(fileSize)
	names.Read(&sub.Buffer, &left, each)
	f.Stop(sub.err())
}
