package afdo

import "sync"

// tableCache keeps the symbol tables of all units that were asked for, so that each is decoded once
// however callees and inlined functions go back and forth. A string table that units share is kept
// and counted once. Tables of real files are a few times as large as their sections. What a hostile
// file makes of strings that share prefixes is limited.
type tableCache struct {
	max int64 // bytes; set once

	mu     sync.Mutex
	tables map[int]*symbolTable // by unit
	names  map[uint32][]string  // by section
	picked map[uint32]bool      // string tables out of which some names have been picked
	bytes  int64                // of tables and names, or of their sections where these are larger
}

// table returns the symbol table of a unit, nil if it is not in the cache.
func (c *tableCache) table(unit int) *symbolTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables[unit]
}

// strings returns the strings of a section if they are in the cache, and whether there is room for
// more.
func (c *tableCache) strings(section uint32) (names []string, ok, room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, ok = c.names[section]
	return names, ok, c.bytes < c.max
}

// firstPick reports whether names are picked out of a string table for the first time.
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

// addStrings keeps the strings of a section of some bytes and returns them, or those that are there
// already.
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

// addTable keeps the symbol table of a unit and returns it, or the one that is there already. Its
// symbol names have some bytes.
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

// stringSize is roughly the memory of decoded strings.
func stringSize(names []string) int {
	n := 16 * len(names)
	for _, name := range names {
		n += len(name)
	}
	return n
}
