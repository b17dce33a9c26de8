package instrprof

import (
	"bytes"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/guid"
	"github.com/go-afdo/afdo/llvm/internal/names"
)

// NameHash returns what stands for a name in indexed and raw files: the first eight bytes of its
// MD5, little-endian.
func NameHash(name string) uint64 { return guid.Of(name) }

// Symbol returns the symbol of a function's name, which for one of internal linkage has the path of
// its source before it, and a ';' or a ':'.
func Symbol(name string) string { return name[strings.LastIndexAny(name, ";:")+1:] }

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

// A nameTable holds names by their hash.
type nameTable map[uint64][]byte

// A nameCache keeps the names of the dump that was read last: those of all runs of a program are
// the same.
type nameCache struct {
	mu      sync.Mutex
	section []byte
	table   nameTable
}

func (c *nameCache) get(d *Dump) (nameTable, error) {
	c.mu.Lock()
	section, table := c.section, c.table
	c.mu.Unlock()
	if table != nil && bytes.Equal(section, d.names.Data) {
		return table, nil
	}
	table = nameTable{}
	f := d.names
	section = bytes.Clone(f.Data) // which names that are not compressed are part of
	f.Data = section
	f.names(uint64(len(f.Data)), d.file.Size(), func(name []byte) { table[guid.Of(name)] = name })
	if f.Err != nil {
		return nil, f.err()
	}
	c.mu.Lock()
	c.section, c.table = section, table
	c.mu.Unlock()
	return table, nil
}
