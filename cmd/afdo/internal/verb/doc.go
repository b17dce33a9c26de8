// Package verb contains code that several verbs share: opening a file by its kind, flags and
// outputs.
package verb
