// Package merge has the verbs that write profiles made of other profiles: merge, convert and index.
package merge
