package trace

// A Use is what a program does with a path.
type Use uint8

// These are the uses. A program may use one path in several ways.
const (
	Status Use = 1 << iota // asks whether something is there
	Open                   // opens it, and reads a file
	List                   // lists a folder
	Link                   // reads a symbolic link
)

// A Program is a program that was executed.
type Program struct {
	Name string // as it was called
	Path string // of the file, without links
}

// A Log is what a run has asked the file system. Uses has the paths that were looked up, as the
// program spelled them. A relative path begins at the folder where the program was started.
type Log struct {
	Uses     map[string]Use
	Programs []Program
}
