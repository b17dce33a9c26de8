package instrprof

import (
	"bytes"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/format/llvm/internal/names"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/symname"
)

// NameHash returns the hash of a name in indexed and raw files: the first eight bytes of its MD5,
// little-endian.
func NameHash(name string) uint64 { return symname.GUID(name) }

// Symbol returns the symbol in a function's name. The name of a function with internal linkage
// consists of the path of its source file, a ';' or ':', and the symbol.
func Symbol(name string) string { return name[strings.LastIndexAny(name, ";:")+1:] }

// maxNames returns the limit on the uncompressed size of the names in a file: 32 MiB plus 16 times
// the file size. The names of real programs compress to a fifth. Each name counts 32 bytes more
// than its length, for its entry in a table.
func maxNames(size int64) int64 { return 32<<20 + 16*min(size, 1<<40) }

// names decodes a list of names that takes the next size bytes, and calls each with every name. The
// names of a file of fileSize bytes may take at most maxNames(fileSize) bytes.
func (f *fields) names(size uint64, fileSize int64, each func([]byte)) {
	sub := fields{base: f.base + int64(f.Pos)}
	sub.Buffer = decode.Buffer{Data: f.Take(size, "the names"), Part: f.Part}
	left := maxNames(fileSize)
	names.Read(&sub.Buffer, &left, each)
	f.Stop(sub.err())
}

// nameList is like [fields.names], but returns the names.
func (f *fields) nameList(size uint64, fileSize int64) (list []string, err error) {
	f.names(size, fileSize, func(name []byte) { list = append(list, string(name)) })
	if f.Err != nil {
		return nil, f.err()
	}
	return list, nil
}

// A nameTable has the names of functions, by the hash of the name.
type nameTable map[uint64][]byte

// A nameCache keeps the decoded names of the latest dump. The dumps of all runs of a program have
// the same names, so the next dump need not decode them.
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
	section = bytes.Clone(f.Data) // copied, because uncompressed names refer to it
	f.Data = section
	f.names(uint64(len(f.Data)), d.file.Size(), func(name []byte) { table[symname.GUID(name)] = name })
	if f.Err != nil {
		return nil, f.err()
	}
	c.mu.Lock()
	c.section, c.table = section, table
	c.mu.Unlock()
	return table, nil
}
