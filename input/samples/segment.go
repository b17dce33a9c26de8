package samples

import "github.com/go-afdo/afdo/internal/saturating"

// A segment is a part of a file that a process has mapped at a range of addresses. It is used for
// profiles of pprof and OpenTelemetry, whose locations are addresses of processes.
type segment struct {
	start, limit uint64 // addresses; limit 0 is not known
	offset       uint64 // of start, in the file

	object Object
}

// holds reports whether an address is in the segment.
func (s *segment) holds(address uint64) bool {
	return address >= s.start && (s.limit == 0 || address < s.limit)
}

// place converts an address in the segment to a place: the file offset in the binary, and whether
// the segment belongs to the binary.
func (s *segment) place(address uint64) place {
	return place{s.object.Ours, address - s.start + s.offset}
}

// sampled adds n samples at an address in the segment to the segment's mapped file and, if that is
// the binary, to the Set.
func (s *segment) sampled(address, n uint64, set *Set, r *Report) {
	s.object.Samples = saturating.Add(s.object.Samples, n)
	if at := s.place(address); at.inside && n > 0 {
		r.InBinary = saturating.Add(r.InBinary, n)
		set.Addresses.Add(at.offset, n)
	}
}
