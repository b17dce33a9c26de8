// Package trace runs a program and lists the paths that the program and its children look up in the
// file system. The list is complete: as long as each of these lookups would have the same result,
// the file system cannot make the program behave differently.
package trace
