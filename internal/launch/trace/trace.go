package trace

// A Use is what a program does with a path, such as opening a file.
type Use uint8

// These are the uses. A program may use one path in several ways.
const (
	Status Use = 1 << iota // asks whether something is there
	Open                   // opens it, and reads a file
	List                   // lists a folder
	Link                   // reads a symbolic link itself
)

// A Program is a program that the observed program has executed.
type Program struct {
	Name string // as the caller spelled it, argv[0]
	Path string // of the file, without symbolic links
}

// A Log lists the lookups of an observed program and its children. The keys of Uses are the paths
// that were looked up, in the spelling of the program. A relative path begins at the folder in
// which the first program was started.
type Log struct {
	Uses     map[string]Use
	Programs []Program // all programs that were executed
}
