// Package record describes the inputs of a command, so that the launcher's cache can tell whether
// they have changed: the files that the command read, the folders in which other files could take
// their place, and the identifiers in its sources.
package record
