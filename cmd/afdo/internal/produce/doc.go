// Package produce implements the verbs that make profiles and layouts from runs of programs:
// record, create, rebase and layout.
package produce
