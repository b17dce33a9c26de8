// Command sbom writes what the programs of an archive are made of, as CycloneDX JSON: the modules
// that the Go command has written into each program, with their versions and sums.
//
// The same archive gives the same bytes: the time is that of the commit.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: sbom ARCHIVE OUT")
	}
	programs, err := readArchive(args[0])
	if err != nil {
		return err
	}
	sum, err := sumOf(args[0])
	if err != nil {
		return err
	}
	return write(describe(filepath.Base(args[0]), sum, programs), args[1])
}

func write(bom *cyclonedx.BOM, name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON)
	return errors.Join(encoder.SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6), out.Close())
}
