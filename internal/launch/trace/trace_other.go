//go:build !linux || !(amd64 || arm64)

package trace

// RunHelper does nothing on this system, where [Run] starts no helper process.
func RunHelper() {}

// Run calls start and returns no log: programs can be observed only on Linux, on x86-64 and arm64.
func Run(_ string, _ bool, start func() error) (*Log, error) { return nil, start() }
