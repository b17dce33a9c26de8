// Command afdo-fetch reads files of HTTP servers for afdo, which starts it when it is given a URL.
// Package internal/fetch says how they talk.
package main

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

func main() {
	url, whole, ok := fetch.Arguments(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: afdo-fetch URL (afdo starts it by itself)")
		os.Exit(2)
	}
	option := remote.Cache(blockSize, numBlocks)
	if whole {
		option = remote.Tail(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	f, err := remote.Open(ctx, url, option)
	if err := fetch.Serve(os.Stdin, os.Stdout, f, err); err != nil {
		fmt.Fprintln(os.Stderr, "afdo-fetch:", err)
		os.Exit(1)
	}
}
