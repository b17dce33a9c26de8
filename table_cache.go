package afdo

import "sync"

// tableCache keeps the decoded symbol tables of all units looked up so far, so that each is decoded
// once no matter how lookups of callees and inlined functions alternate between units. A string
// table shared by several units is kept and counted once. The decoded tables of real files are a
// few times as large as their sections. max limits tables of hostile files, whose strings share
// prefixes to expand to huge sizes.
type tableCache struct {
	max int64 // limit for bytes; set once

	mu     sync.Mutex
	tables map[int]*symbolTable // by unit index
	names  map[uint32][]string  // by section index of the string table
	picked map[uint32]bool      // section indexes of the string tables from which names have been picked
	bytes  int64                // total size of tables and names, or of their sections where these are larger
}

// table returns the symbol table of a unit, or nil if it is not in the cache.
func (c *tableCache) table(unit int) *symbolTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables[unit]
}

// strings returns the cached strings of a section, and whether the cache has room for more.
func (c *tableCache) strings(section uint32) (names []string, ok, room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, ok = c.names[section]
	return names, ok, c.bytes < c.max
}

// firstPick records that names are picked from a string table without decoding it. It reports
// whether this is the first time and the table has not been decoded.
func (c *tableCache) firstPick(section uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, decoded := c.names[section]; decoded || c.picked[section] {
		return false
	}
	if c.picked == nil {
		c.picked = make(map[uint32]bool)
	}
	c.picked[section] = true
	return true
}

// addStrings caches the strings of a section of size bytes. If another goroutine has cached them
// already, it returns those instead.
func (c *tableCache) addStrings(section uint32, names []string, size int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there, ok := c.names[section]; ok {
		return there
	}
	if c.names == nil {
		c.names = make(map[uint32][]string)
	}
	c.names[section] = names
	c.bytes += int64(max(size, stringSize(names)))
	return names
}

// addTable caches the symbol table of a unit, decoded from size bytes of symbol names. If another
// goroutine has cached it already, it returns that one instead.
func (c *tableCache) addTable(unit int, t *symbolTable, size int) *symbolTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there := c.tables[unit]; there != nil {
		return there
	}
	if c.tables == nil {
		c.tables = make(map[int]*symbolTable)
	}
	c.tables[unit] = t
	c.bytes += int64(max(size, t.size()))
	return t
}

// stringSize returns the approximate size of the strings in memory, in bytes.
func stringSize(names []string) int {
	n := 16 * len(names)
	for _, name := range names {
		n += len(name)
	}
	return n
}
