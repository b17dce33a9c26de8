// Package merge implements the verbs that write a profile made from other profiles: merge, convert
// and index.
package merge
