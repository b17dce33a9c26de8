package main

import (
	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/lines"
)

// addServerFlags adds the flags that limit what servers may do, to all verbs.
func addServerFlags(root *cobra.Command) {
	var limits fetch.Limits
	flags := root.PersistentFlags()
	flags.Var((*byteSize)(&limits.MaxSize), "max-download", "largest file to read from a URL, 1G by default")
	flags.DurationVar(&limits.Timeout, "timeout", 0, "how long a server may be silent, 1m by default")
	root.PersistentPreRun = func(*cobra.Command, []string) { fetch.SetLimits(limits) }
}

// byteSize is the value of a flag for a number of bytes, such as 500M.
type byteSize int64

func (b *byteSize) String() string { return "" }

func (b *byteSize) Set(text string) (err error) {
	*(*int64)(b), err = lines.ParseSize(text)
	return err
}

func (b *byteSize) Type() string { return "SIZE" }
