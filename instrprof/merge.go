package instrprof

// An Input is a file that is merged.
type Input struct {
	Path   string
	Weight uint64 // its counts are multiplied by it
}
