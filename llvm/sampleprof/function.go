package sampleprof

// A Function is a top-level function: what was sampled in it where it was not inlined, or, in a
// context-sensitive profile, where it was called in one context.
type Function struct {
	Name      NameRef
	Context   []Frame // outermost first, and the function itself last; nil unless the profile is context-sensitive
	Total     uint64  // samples, inlined ones included, as stated, which need not be the sum of the records
	HeadCount uint64  // calls of the function
	Records   []Record
}

// Checksum returns the checksum of the function's control flow graph, 0 if there is none.
func (f *Function) Checksum() uint64 { return find(f.Records, KindChecksum) }

// Attributes returns the function's attributes.
func (f *Function) Attributes() uint32 { return uint32(find(f.Records, KindAttributes)) }

// find returns the count of the first record of a kind that is not within an inlined body.
func find(records []Record, kind Kind) uint64 {
	for i := 0; i < len(records); i += records[i].span() {
		if records[i].Kind == kind {
			return records[i].Count
		}
	}
	return 0
}
