// Package arena keeps copies of names in a few large allocations.
package arena

import "strings"

// Names keeps copies of names. The zero value is ready to use.
type Names struct{ chunk strings.Builder }

// Sizes in bytes of the first and of the largest chunk. Each chunk is twice as large as the one
// before it.
const (
	firstChunk = 1 << 10
	maxChunk   = 1 << 16
)

// Clone returns a copy of a name. The names of a chunk stay in memory together, for as long as any
// copy in the chunk is in use. So use Clone for names that are needed for about the same time.
func (n *Names) Clone(name string) string {
	if len(name) > maxChunk/8 {
		return strings.Clone(name)
	}
	start := n.room(len(name))
	n.chunk.WriteString(name)
	return n.chunk.String()[start:]
}

// CloneBytes returns a copy of the name in a byte slice, see [Names.Clone].
func (n *Names) CloneBytes(name []byte) string {
	if len(name) > maxChunk/8 {
		return string(name)
	}
	start := n.room(len(name))
	n.chunk.Write(name)
	return n.chunk.String()[start:]
}

// room makes sure that the current chunk has room for size bytes: if it has not, room begins a new
// chunk. It returns the length of the used part of the chunk, which is where the bytes are to be
// copied.
func (n *Names) room(size int) int {
	if before := n.chunk.Cap(); n.chunk.Len()+size > before {
		n.chunk.Reset()
		n.chunk.Grow(max(min(2*before, maxChunk), firstChunk, size))
	}
	return n.chunk.Len()
}
