//go:build amd64 || arm64

package steps

import (
	"time"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
)

// A pageCache has pages of code and constants, so that bursts need not read and decode them again.
// Code of a file is the same in all processes, as far as nobody patches it.
type pageCache struct {
	pages map[pageOf]cachedPage
	code  map[pageOfFile]*simulate.Page
}

type pageOf struct {
	process *process
	address uint64
}

type pageOfFile struct {
	file   fileID
	offset uint64
}

type cachedPage struct {
	page *simulate.Page
	read int64 // time at which it was read
}

// Limits of a pageCache. It is emptied when it reaches one of them, and takes at most 30 MB.
const (
	maxCachedPages  = 1024    // 4 or 12 KiB each
	maxInstructions = 1 << 16 // 250 bytes each

	// pageAge is the time after which a page is read from its process again. The process may have
	// patched its code, or mapped another library at the same address.
	pageAge = int64(time.Second)
)

// trim empties the cache if it is full. *instructions is the number of decoded instructions in the
// cache. trim sets it to 0 when it drops these instructions.
func (c *pageCache) trim(instructions *int) {
	if c.pages == nil || len(c.pages) >= maxCachedPages {
		c.pages = make(map[pageOf]cachedPage)
	}
	if c.code == nil || len(c.code) >= maxCachedPages || *instructions >= maxInstructions {
		c.pages, c.code, *instructions = make(map[pageOf]cachedPage), make(map[pageOfFile]*simulate.Page), 0
	}
}

// of returns the page at an address of a process, from the cache if possible. The page belongs to
// the mapping m, whose content does not change. read reads the memory of the process.
func (c *pageCache) of(p *process, m *mapping, address uint64, read func(address uint64, to []byte) int) *simulate.Page {
	key, now := pageOf{p, address}, clock()
	known, ok := c.pages[key]
	if ok && now-known.read < pageAge {
		return known.page
	}
	file := pageOfFile{m.file, m.PageOffset + address - m.Start}
	page := c.code[file]
	if ok || page == nil {
		var buffer [simulate.PageSize]byte
		content := buffer[:read(address, buffer[:])]
		if page == nil || !page.Holds(content) {
			page = simulate.NewPage(content)
			if m.file != (fileID{}) && c.code[file] == nil && len(content) == simulate.PageSize { // else the process is ending
				c.code[file] = page
			}
		}
	}
	c.pages[key] = cachedPage{page, now}
	return page
}
