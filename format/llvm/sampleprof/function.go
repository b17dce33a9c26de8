package sampleprof

// A Function holds the samples of a function where it was not inlined into others. In a
// context-sensitive profile, it holds the samples in one calling context.
type Function struct {
	Name      NameRef
	Context   []Frame // outermost function first, this function last; nil without contexts
	Total     uint64  // samples including inlined functions, as stored; not necessarily the sum of the records
	HeadCount uint64  // number of calls of the function
	Records   []Record
}

// find returns the Count of the first record of the given kind in a function, or 0 if there is
// none. It does not look into inlined bodies.
func find(records []Record, kind Kind) uint64 {
	for i := 0; i < len(records); i += records[i].span() {
		if records[i].Kind == kind {
			return records[i].Count
		}
	}
	return 0
}
