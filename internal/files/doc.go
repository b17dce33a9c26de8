// Package files opens files whose names come from users or other files, and writes files that
// appear completely or not at all. Other packages use it for all such files. A test in package
// doccheck lists the exceptions, with the reason for each.
package files
