package afdo

// NumLocations returns the number of location records of the function's own body, as the section
// has it.
func (i Info) NumLocations() int { return int(i.locations) }
