// Package sourcefmt is the sources section, an extension: a mark for each line of the functions
// that were profiled, so that the lines can be found again once they were edited.
// docs/extensions.md specifies it.
package sourcefmt
