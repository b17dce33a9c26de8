package main

import (
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/profile"
)

// withInput opens the profile of a path, calls use, and closes it. Errors
// that say nothing of a file get the input's name.
func (e *env) withInput(path string, use func(*gcovkind.Input) error) error {
	in, err := e.openInput(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return in.Wrap(use(in))
}

// loadProfile reads a whole profile of any format into memory.
func (e *env) loadProfile(path string) (*profile.Profile, error) {
	in, err := e.openInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p, err := in.Profile()
	return p, in.Wrap(err)
}

// openInput opens the profile of a path and recognises its format by content.
func (e *env) openInput(path string) (*gcovkind.Input, error) {
	f, err := input.Open(e.In, path)
	if err != nil {
		return nil, err
	}
	in, err := gcovkind.Open(f)
	if err != nil {
		f.Close()
	}
	return in, err
}
