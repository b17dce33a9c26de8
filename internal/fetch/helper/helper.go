// Package helper is the main function of the helper programs that read files on servers for afdo.
// It is separate from package fetch, which is part of afdo and must not import the HTTP code of
// package remote.
package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/internal/fetch"
)

// Size of the cache for ranges of a file: 16 MiB, enough for a few units.
const (
	blockSize = 16 << 10
	numBlocks = 1024
)

// Main runs the helper program with the given name. open opens the URLs that the helper supports.
func Main(name string, open func(context.Context, string, ...remote.Option) (*remote.File, error)) {
	request, ok := fetch.ParseArguments(os.Args[1:])
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: %s [-whole] [-max-size=BYTES] [-timeout=DURATION] [-min-rate=BYTES] URL (afdo starts it by itself)\n", name)
		os.Exit(2)
	}
	options := []remote.Option{remote.Cache(blockSize, numBlocks)}
	if request.Whole {
		options = []remote.Option{remote.Tail(1)}
	}
	if request.MaxSize > 0 {
		options = append(options, remote.MaxSize(request.MaxSize))
	}
	if request.Timeout > 0 {
		options = append(options, remote.Timeout(request.Timeout))
	}
	if request.MinRate > 0 {
		options = append(options, remote.MinRate(request.MinRate))
	}
	log.SetOutput(io.Discard) // net/http prints what a server sends too much
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := os.Stdout
	os.Stdout = os.Stderr // libraries may print, but not into the conversation
	f, err := open(ctx, request.URL, options...)
	if errors.Is(err, remote.ErrTooLarge) {
		err = fmt.Errorf("%w (--max-download sets the limit; for exec, AFDO_CACHE_SIZE)", err)
	}
	if err := fetch.Serve(os.Stdin, out, f, err); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
