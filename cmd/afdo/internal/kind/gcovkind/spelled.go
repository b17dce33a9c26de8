package gcovkind

import (
	"fmt"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// Limits on the total length of the names in all profiles that the process loads: a multiple of the
// size of their files, and some bytes for any file. Names of real files take a few times the file
// size. Each file has a limit of its own, but there may be thousands of files, and a merged profile
// keeps the names of all.
const (
	spelledPerByte = 16
	freeSpelled    = 64 << 20
)

// spelled is what the names of all profiles so far have taken beyond that.
var spelled atomic.Int64

// countNames counts the names of a profile that came from a file of a size.
func countNames(p *profile.Profile, size int64) error {
	n := -spelledPerByte * size
	for s := range p.NumSymbols() {
		n += int64(len(p.SymbolName(profile.SymbolRef(s))))
	}
	if n > 0 && spelled.Add(n) > freeSpelled {
		return fmt.Errorf("its names and those of the files before it take more than %d times the files, spelled out: %w", spelledPerByte, afdo.ErrLimit)
	}
	return nil
}
