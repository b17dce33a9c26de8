// Package kind is the seam between the verbs and the kinds of profile that they know.
package kind

// LookupOptions is what the verb lookup is asked for.
type LookupOptions struct {
	Unit, Symbol string
	HasUnit      bool // Unit counts, and may be empty
	HasSymbol    bool // Symbol counts
	JSON         bool
	Demangle     bool
}
