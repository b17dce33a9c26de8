// Package files opens files whose names come from elsewhere, and writes files that appear whole or
// not at all. Other packages use it for such files. A test in package docs lists the exceptions,
// which open or write files of known names, and gives the reason for each.
package files
