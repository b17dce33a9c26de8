package verb

import (
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/internal/cli"
)

// An Env is what the verbs are methods of.
type Env struct {
	cli.Env
	Kinds kind.Table

	// Become replaces this process by another program. In tests it does not.
	Become func(argv, environment []string) error
}
