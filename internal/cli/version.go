package cli

import "runtime/debug"

// ProgramVersion returns the version of the main module, or "(devel)" if the build does not record
// it.
func ProgramVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
