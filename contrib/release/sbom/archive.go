package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// A program is a file of an archive that the Go command has made.
type program struct {
	name string
	sum  [sha256.Size]byte
	info *buildinfo.BuildInfo
}

// readArchive returns the programs of a .tar.gz or .zip, in its order.
func readArchive(name string) ([]program, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var programs []program
	take := func(name string, r io.Reader) error {
		p, ok, err := readProgram(name, r)
		if ok {
			programs = append(programs, p)
		}
		return err
	}
	switch {
	case strings.HasSuffix(name, ".tar.gz"):
		err = eachOfTar(f, take)
	case strings.HasSuffix(name, ".zip"):
		err = eachOfZip(f, take)
	default:
		err = errors.New("the name ends in neither .tar.gz nor .zip")
	}
	if err == nil && len(programs) == 0 {
		err = errors.New("there is no Go program in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return programs, nil
}

func eachOfTar(f io.Reader, take func(name string, r io.Reader) error) error {
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	files := tar.NewReader(unpacked)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, unpacked) // as far as its checksum
			return err
		}
		if err != nil {
			return err
		}
		if err := take(header.Name, files); err != nil {
			return err
		}
	}
}

func eachOfZip(f *os.File, take func(name string, r io.Reader) error) error {
	state, err := f.Stat()
	if err != nil {
		return err
	}
	files, err := zip.NewReader(f, state.Size())
	if err != nil {
		return err
	}
	for _, file := range files.File {
		r, err := file.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(take(file.Name, r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// readProgram tells whether a file is a program of the Go command's, and what is written into it.
func readProgram(name string, r io.Reader) (program, bool, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return program{}, false, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil { // a manual page, say
		return program{}, false, nil
	}
	return program{name: path.Base(name), sum: sha256.Sum256(data), info: info}, true, nil
}

func sumOf(name string) (sum [sha256.Size]byte, err error) {
	data, err := os.ReadFile(name)
	return sha256.Sum256(data), err
}
