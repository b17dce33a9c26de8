// Package sourcefmt reads and writes the sources section, an extension specified in
// docs/reference/extensions.md. It stores a mark for each source line of the profiled functions,
// so that the lines can be found again after the source has been edited.
package sourcefmt
