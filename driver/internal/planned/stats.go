package planned

import (
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo/driver/internal/store"
)

// maxStats is the size in bytes from which on the statistics are to be summed up.
const maxStats = 256 << 10

// StatsPath returns the path of the statistics, a file of lines.
func StatsPath(cache *store.Store) string { return filepath.Join(cache.Dir(), "stats") }

// AppendStats appends a line to the statistics, which systems do in one piece. It reports false if
// they have to be summed up first. Without a file to write to there are no statistics.
func AppendStats(cache *store.Store, line string) bool {
	f, err := os.OpenFile(StatsPath(cache), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return true
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxStats {
		return false
	}
	_, _ = f.WriteString(line)
	return true
}
