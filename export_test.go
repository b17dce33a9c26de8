package afdo

// NumLocations returns the number of location records directly in the function's body, as stored in
// the section.
func (i Info) NumLocations() int { return int(i.locations) }
