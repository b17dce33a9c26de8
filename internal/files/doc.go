// Package files opens files whose names come from elsewhere, and writes files that appear whole or
// not at all. Other packages neither open nor write files by themselves, as a test in package docs
// checks.
package files
