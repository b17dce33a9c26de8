package verb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/compdb"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
)

// AddKindFlags adds to a verb the flags that the kinds of profile define for this verb.
func (e *Env) AddKindFlags(verb *cobra.Command) {
	for _, k := range e.Kinds {
		if k, ok := k.(kind.HasFlags); ok {
			k.AddFlags(verb)
		}
	}
}

// OpenFile opens the file at a path. It returns the file and the kind of profile in it.
func (e *Env) OpenFile(path string) (*input.File, kind.Kind, error) {
	f, err := input.Open(e.In, path)
	if err != nil {
		return nil, nil, err
	}
	return f, e.Kinds.Of(f.Format()), nil
}

// WithFile opens the file of a path, calls use with its kind, and closes it. It adds the name of
// the file to errors that name none.
func (e *Env) WithFile(path string, use func(*input.File, kind.Kind) error) error {
	f, err := input.Open(e.In, path)
	return e.with(f, err, use)
}

// WithParts is [Env.WithFile] for verbs that read only parts of a file.
func (e *Env) WithParts(path string, use func(*input.File, kind.Kind) error) error {
	f, err := input.OpenParts(e.In, path)
	return e.with(f, err, use)
}

// WithOverview is [Env.WithFile] for the verbs whose output can be computed from the overview in
// the index of a file. If the file is on a server and has an overview, use gets the overview. The
// parts of the file that use reads are then fetched on demand. Otherwise use gets nil, and the file
// is fetched as a whole.
func (e *Env) WithOverview(path string, use func(*input.File, kind.Kind, *gcovkind.Overview) error) error {
	f, err := input.OpenParts(e.In, path)
	return e.with(f, err, func(f *input.File, k kind.Kind) error {
		var o *gcovkind.Overview
		if IsGCOV(k) {
			o = gcovkind.OverviewOf(f)
		}
		if o == nil {
			f.Keep()
		}
		return use(f, k, o)
	})
}

// with calls use with an opened file, and closes the file. err is the error of opening the file. If
// it is not nil, with returns it.
func (e *Env) with(f *input.File, err error, use func(*input.File, kind.Kind) error) error {
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Wrap(use(f, e.Kinds.Of(f.Format())))
}

// WithGCOV is [Env.WithFile] for verbs that support no other kind than GCOV profiles. verb is the
// name of the verb, for errors.
func (e *Env) WithGCOV(verb, path string, use func(*gcovkind.Input) error) error {
	return e.WithFile(path, e.asInput(verb, use))
}

// WithGCOVParts is [Env.WithGCOV] for verbs that read only parts of a file.
func (e *Env) WithGCOVParts(verb, path string, use func(*gcovkind.Input) error) error {
	return e.WithParts(path, e.asInput(verb, use))
}

// asInput converts a function for GCOV profiles to one for all kinds of profile. For other kinds,
// the returned function returns an error that names verb.
func (e *Env) asInput(verb string, use func(*gcovkind.Input) error) func(*input.File, kind.Kind) error {
	return func(f *input.File, k kind.Kind) error {
		if _, ok := k.(*gcovkind.Kind); !ok {
			return e.Kinds.Refuse(verb, k, IsGCOV)
		}
		in, err := gcovkind.Open(f)
		if err != nil {
			return err
		}
		return use(in)
	}
}

func IsGCOV(k kind.Kind) bool {
	_, ok := k.(*gcovkind.Kind)
	return ok
}

// IsGCOVFile reports whether a file is a GCOV profile. It assumes so for standard input, which can
// be read only once.
func (e *Env) IsGCOVFile(path string) (is bool, err error) {
	if path == cli.Stdio {
		return true, nil
	}
	err = e.WithParts(path, func(_ *input.File, k kind.Kind) error {
		is = IsGCOV(k)
		return nil
	})
	return is, err
}

func Can[V any](k kind.Kind) bool {
	_, ok := k.(V)
	return ok
}

// Dispatch runs a verb for a profile of kind k. It calls own if the kind implements V, which is the
// interface of the verb. Otherwise it calls model if the kind implements CanLoad and model is not
// nil. model converts the profile to one of package profile. If neither applies, Dispatch returns
// an error that names verb.
func Dispatch[V kind.Kind](e *Env, verb string, k kind.Kind, own func(V) error, model func(kind.CanLoad) error) error {
	if v, ok := k.(V); ok {
		return own(v)
	}
	if l, ok := k.(kind.CanLoad); ok && model != nil {
		return model(l)
	}
	return e.Kinds.Refuse(verb, k, func(k kind.Kind) bool { return Can[V](k) || model != nil && Can[kind.CanLoad](k) })
}

// An Env is what a verb gets from its surroundings: the standard streams, and the kinds of profile
// that the command supports.
type Env struct {
	cli.Env
	Kinds kind.Table

	// Become replaces this process by another program. Tests set it to a function that does not.
	Become func(argv, environment []string) error
}

// A BuildCommand is a compiler command of a build. If "afdo exec" started the compiler, the
// BuildCommand is the command without it.
type BuildCommand struct {
	*command.Line
	Launched bool // "afdo exec" came before the compiler
}

func ParseBuildCommand(argv []string, dir string) BuildCommand {
	argv, launched := command.CutExec(argv)
	return BuildCommand{command.Parse(argv, dir), launched}
}

// Inputs finds the source files and headers that the command reads. cache, which may be nil, has
// results of earlier compiles.
func (c *BuildCommand) Inputs(ctx context.Context, cache *store.Store) (*inputs.Inputs, error) {
	compiler, err := toolchain.Find(ctx, c.Line, cache)
	if err != nil {
		return nil, err
	}
	return inputs.Find(ctx, c.Line, compiler, cache)
}

// ReadDatabase returns those commands of a compilation database that compile. It is an error if
// there are none. folder is the folder that contains the database.
func ReadDatabase(path string) (commands []BuildCommand, folder string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if folder, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, "", err
	}
	entries, err := compdb.Parse(data, folder)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", human.Name(path), err)
	}
	for _, entry := range entries {
		if c := ParseBuildCommand(entry.Args, entry.Directory); c.Reason == "" {
			commands = append(commands, c)
		}
	}
	if len(commands) == 0 {
		return nil, "", fmt.Errorf("%s: none of %s compiles anything", human.Name(path), human.Counted(len(entries), "command"))
	}
	return commands, folder, nil
}
