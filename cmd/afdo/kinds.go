package main

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/instrprofkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/memprofkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/samplekind"
	"github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

// newKinds returns the kinds of profile, in the order of the help. Package kind says how to add
// one.
func newKinds() kind.Table {
	return kind.Table{
		&gcovkind.Kind{IndexOptions: indexOptions},
		new(samplekind.Kind),
		new(memprofkind.Kind),
		new(instrprofkind.Kind),
	}
}

// indexOptions returns the options of the index that --index writes with a profile.
func indexOptions(p *profile.Profile) (*index.Options, error) {
	o := newIndexOptions()
	return o, addFingerprints(o, p)
}

// addKindFlags gives a verb the flags that kinds have for it.
func (e *env) addKindFlags(verb *cobra.Command) {
	for _, k := range e.kinds {
		if k, ok := k.(kind.HasFlags); ok {
			k.AddFlags(verb)
		}
	}
}

// openFile opens the file of a path and tells its kind.
func (e *env) openFile(path string) (*input.File, kind.Kind, error) {
	f, err := input.Open(e.In, path)
	if err != nil {
		return nil, nil, err
	}
	return f, e.kinds.Of(f.Format()), nil
}

// withFile opens the file of a path, calls use with its kind, and closes it. Errors that say
// nothing of a file get its name.
func (e *env) withFile(path string, use func(*input.File, kind.Kind) error) error {
	f, err := input.Open(e.In, path)
	return e.with(f, err, use)
}

// withParts is withFile for verbs that read some of a file.
func (e *env) withParts(path string, use func(*input.File, kind.Kind) error) error {
	f, err := input.OpenParts(e.In, path)
	return e.with(f, err, use)
}

// with has a file used that was opened, unless err says why it was not, and closes it.
func (e *env) with(f *input.File, err error, use func(*input.File, kind.Kind) error) error {
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Wrap(use(f, e.kinds.Of(f.Format())))
}

// withInput is withFile for verbs that know GCOV profiles only.
func (e *env) withInput(verb, path string, use func(*gcovkind.Input) error) error {
	return e.withFile(path, e.asInput(verb, use))
}

// withInputParts is withInput for verbs that read some of a file.
func (e *env) withInputParts(verb, path string, use func(*gcovkind.Input) error) error {
	return e.withParts(path, e.asInput(verb, use))
}

// asInput opens a GCOV profile for a verb, and refuses others.
func (e *env) asInput(verb string, use func(*gcovkind.Input) error) func(*input.File, kind.Kind) error {
	return func(f *input.File, k kind.Kind) error {
		if _, ok := k.(*gcovkind.Kind); !ok {
			return e.kinds.Refuse(verb, k, isGCOV)
		}
		in, err := gcovkind.Open(f)
		if err != nil {
			return err
		}
		return use(in)
	}
}

func isGCOV(k kind.Kind) bool {
	_, ok := k.(*gcovkind.Kind)
	return ok
}

// isGCOVFile reports whether a file is a GCOV profile. What comes on standard input, which can be
// read once, is taken for one.
func (e *env) isGCOVFile(path string) (is bool, err error) {
	if path == cli.Stdio {
		return true, nil
	}
	err = e.withParts(path, func(_ *input.File, k kind.Kind) error {
		is = isGCOV(k)
		return nil
	})
	return is, err
}

func can[V any](k kind.Kind) bool {
	_, ok := k.(V)
	return ok
}

// dispatch has a kind do a verb: by its own method if it has one, by the model of package profile
// if it can be loaded into that and the verb has a way for it. A verb without one passes nil.
func dispatch[V kind.Kind](e *env, verb string, k kind.Kind, own func(V) error, model func(kind.CanLoad) error) error {
	if v, ok := k.(V); ok {
		return own(v)
	}
	if l, ok := k.(kind.CanLoad); ok && model != nil {
		return model(l)
	}
	return e.kinds.Refuse(verb, k, func(k kind.Kind) bool { return can[V](k) || model != nil && can[kind.CanLoad](k) })
}
