// Package arena keeps copies of names in a few large allocations.
package arena

import "strings"

// Names keeps copies of names. The zero value is ready to use.
type Names struct{ chunk strings.Builder }

// How large chunks are: each is twice as large as the one before.
const (
	firstChunk = 1 << 10
	maxChunk   = 1 << 16
)

// Clone returns a copy of a name. It keeps the others of its chunk in memory, so it is for names
// that live about as long as each other.
func (n *Names) Clone(name string) string {
	if len(name) > maxChunk/8 {
		return strings.Clone(name)
	}
	start := n.room(len(name))
	n.chunk.WriteString(name)
	return n.chunk.String()[start:]
}

// CloneBytes is Clone of a name in bytes.
func (n *Names) CloneBytes(name []byte) string {
	if len(name) > maxChunk/8 {
		return string(name)
	}
	start := n.room(len(name))
	n.chunk.Write(name)
	return n.chunk.String()[start:]
}

// room sees to it that size bytes fit into the chunk, and returns where they go.
func (n *Names) room(size int) int {
	if before := n.chunk.Cap(); n.chunk.Len()+size > before {
		n.chunk.Reset()
		n.chunk.Grow(max(min(2*before, maxChunk), firstChunk, size))
	}
	return n.chunk.Len()
}
