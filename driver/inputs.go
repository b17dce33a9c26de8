package driver

import (
	"github.com/go-afdo/afdo/driver/command"
	"github.com/go-afdo/afdo/driver/internal/inputs"
	"github.com/go-afdo/afdo/slice"
)

// Inputs are what a command reads.
type Inputs struct {
	Files  []string // sources and headers, also headers of the system, as the compiler names them
	Reused bool     // the cache has them from an earlier run, so the preprocessor did not run

	record *inputs.Record
}

// Text returns the text.
func (in *Inputs) Text() (*slice.Text, error) { return in.record.Text() }

// Sum returns a number that changes when the text means something else to slices.
func (in *Inputs) Sum() uint64 { return in.record.Sum() }

// State returns a number that changes when one of the files does.
func (in *Inputs) State() uint64 { return in.record.State() }

// Paths returns the paths of the files of a command that there are.
func (in *Inputs) Paths(c *command.Line) []string {
	paths := make([]string, len(in.Files))
	for i, name := range in.Files {
		paths[i] = c.Path(name)
	}
	return paths
}

// ErrNoText is what the errors of [FindInputs] match if what a command compiles cannot be
// determined from the text of its sources: it is Objective-C, or in a module that is imported, or
// in a precompiled header without the header.
var ErrNoText = inputs.ErrNoText

// FindInputs finds what a command reads. What the cache has from an earlier run holds as long as no
// file has changed, and none has appeared that the compiler would take instead of one. Else the
// compiler is asked to preprocess the sources; preprocessed ones are read as they are.
//
// A nil cache is allowed. If the compiler fails, it says why in the error.
func FindInputs(c *command.Line, compiler *Compiler, cache *Cache) (*Inputs, error) {
	r, err := inputs.Find(c, inputs.Compiler{Path: compiler.Path, Version: compiler.Version}, cache.files())
	if err != nil {
		return nil, err
	}
	return &Inputs{Files: r.Paths(), Reused: r.Reused, record: r}, nil
}

// ReadText returns the text of files of a folder as it is, macros and all. Those that cannot be
// read have none.
func ReadText(files []string, dir string) *slice.Text {
	c := command.Line{Dir: dir}
	t := new(slice.Text)
	for _, name := range files {
		t.Add(inputs.Marked(name, inputs.ReadSource(c.Path(name))))
	}
	return t
}
