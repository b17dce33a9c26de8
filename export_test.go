package afdo

// NumLocations returns the number of location records of the function's own body, as the section
// has it.
func (i Info) NumLocations() int { return int(i.locations) }

// Joined joins parts of a file, each an offset and a size, to runs.
func Joined(parts [][2]int64, most int) (runs [][2]int64) {
	var extents []extent
	for _, p := range parts {
		extents = append(extents, extent{p[0], p[1]})
	}
	for _, e := range joined(extents, most) {
		runs = append(runs, [2]int64{e.off, e.size})
	}
	return runs
}
