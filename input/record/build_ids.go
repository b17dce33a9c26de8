package record

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// buildIDs returns the build IDs of the mapped files, sorted by path. If the kernel did not report
// the ID of a file, it is read from the file.
func buildIDs(files map[perfdata.BuildID]bool) []perfdata.BuildID {
	var list []perfdata.BuildID
	for f := range files {
		if f.ID == "" {
			f.ID = buildIDOf("/", f.Path)
		}
		if f.ID != "" {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b perfdata.BuildID) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	return slices.Compact(list)
}

// buildIDOf returns the build ID of an ELF file below a root folder, or "" for any other path.
func buildIDOf(root, path string) string {
	if !filepath.IsAbs(path) { // for example [vdso]
		return ""
	}
	path = filepath.Join(root, path)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return hex.EncodeToString(elfid.BuildID(f))
}
