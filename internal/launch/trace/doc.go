// Package trace runs a program and lists the paths that the program and its children look up in the
// file system. The list is complete: no answer of the file system can change what such a program
// does unless one of these paths is asked again and has another answer.
package trace
