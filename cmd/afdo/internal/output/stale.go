package output

import (
	"os"
	"path/filepath"
	"time"

	"github.com/go-afdo/afdo/internal/pattern"
)

// StaleAfter is how old a temporary file has to be to be taken for one that is not being written
// any more.
const StaleAfter = time.Hour

const maxFolderRun = 4096 // names of a folder that are looked at

// tempName is what createBeside calls its files.
var tempName = pattern.Of(`^\.afdo-[0-9a-f]{16}\.tmp$`)

// removeStale removes the temporary files that runs before this one left in a
// folder. A run that fails or gets a signal takes its own away; one that is
// killed outright cannot, and without this its files would pile up. Files
// that were written to within the hour may still be in use. Of a folder of
// many thousand names only some are looked at, and a failure is no reason not to go on.
func removeStale(folder string) {
	d, err := os.Open(folder)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxFolderRun)
	for _, name := range names {
		if !tempName().MatchString(name) {
			continue
		}
		path := filepath.Join(folder, name)
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > StaleAfter {
			_ = os.Remove(path)
		}
	}
}
