//go:build !unix

package files

import "os"

// keepOwner does nothing, because files have no owners of the kind that Unix has.
func keepOwner(*os.File, string) {}
