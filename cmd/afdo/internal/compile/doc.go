// Package compile implements the verbs that compile with profiles: exec, slice, fingerprint,
// explain, tune and cache.
package compile
