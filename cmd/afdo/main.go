// Command afdo reads, writes and converts GCOV AutoFDO profiles. See "afdo help".
package main

//go:generate sh ../../testdata/generate.sh

import (
	"os"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/internal/cli"
)

func main() {
	input.LimitMemory()
	e := newEnv(cli.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	os.Exit(runAs(e, os.Args[0], os.Args[1:]))
}
