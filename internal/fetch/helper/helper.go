// Package helper is what the programs have in common that read files of servers for afdo. It is not
// part of package fetch, so that afdo itself does without package remote.
package helper

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/remote"
)

// What is kept of a file: as much as a few units take.
const (
	blockSize = 64 << 10
	numBlocks = 256
)

// headSize is more than it takes to tell what a file is.
const headSize = 4 << 10

// Main is the main function of a program of that name, which opens the URLs of its schemes.
func Main(name string, open func(context.Context, string, ...remote.Option) (*remote.File, error)) {
	url, whole, ok := fetch.Arguments(os.Args[1:])
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: %s URL (afdo starts it by itself)\n", name)
		os.Exit(2)
	}
	options := []remote.Option{remote.Cache(blockSize, numBlocks), remote.Head(headSize)}
	if whole {
		options = []remote.Option{remote.Tail(1)}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := os.Stdout
	os.Stdout = os.Stderr // what libraries print is not part of the conversation
	f, err := open(ctx, url, options...)
	if err := fetch.Serve(os.Stdin, out, f, err); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
