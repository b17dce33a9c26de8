// Package look implements the verbs that print or compare profiles: show, units, lookup, top,
// annotate, report, pprof, diff and check.
package look
