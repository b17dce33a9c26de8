package inputs

import (
	"strings"

	"github.com/go-afdo/afdo/internal/files"
)

// Native is the end of options such as -march=native, with which the compiler examines the
// processor. It then predefines other macros.
const Native = "=native"

// processor returns the features of this machine's processor as text, to be part of cache keys:
// machines with different processors may share a cache. It is empty on systems without
// /proc/cpuinfo.
func processor() string {
	const maxSize = 1 << 20 // some kB for each processor
	text, err := files.ReadFile("/proc/cpuinfo", maxSize)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n\n")
	var lines []string
	for line := range strings.Lines(first) {
		switch name, _, _ := strings.Cut(line, ":"); strings.TrimSpace(name) {
		case "vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU implementer", "CPU part", "CPU variant":
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
