// Command afdo reads, writes and converts GCOV AutoFDO profiles. See "afdo help".
package main

//go:generate sh ../../testdata/generate.sh

import "os"

func main() {
	e := &env{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(e.run(os.Args[1:]))
}
