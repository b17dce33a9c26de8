// Package output writes files that appear whole or not at all.
package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/internal/cli"
)

// JSON writes facts to standard output for other programs.
func JSON(stdout io.Writer, facts any) error {
	return Write(stdout, cli.Stdio, func(w io.Writer) error {
		var document bytes.Buffer
		enc := json.NewEncoder(&document)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(facts); err != nil {
			return err
		}
		_, err := w.Write(jsonstream.EscapeBidi(document.Bytes()))
		return err
	})
}

// Write has write fill the file of a path. The file appears whole or not at all: a file that was
// there stays until then, and the new one gets its mode, but the owner is whoever runs this, and
// other hard links keep the old file. A symbolic link stays, and what it leads to is replaced or
// made. Standard output, in whatever way it is named, and what is no regular file are written to as
// they are.
func Write(stdout io.Writer, path string, write func(io.Writer) error) error {
	if path == cli.Stdio {
		return buffered(stdout, write)
	}
	if f := descriptor(path); f != nil {
		return buffered(f, write)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceFile(path, followLinks(path), 0, write)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return writeThrough(path, write)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return replaceFile(path, target, info.Mode(), write)
}

// descriptor returns the open file that a path names by its number, nil if it does not: to open the
// path of a file would begin to write at its start, whatever is there.
func descriptor(path string) *os.File {
	switch path = filepath.ToSlash(filepath.Clean(path)); path {
	case "/dev/stdout":
		return os.Stdout
	case "/dev/stderr":
		return os.Stderr
	}
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		number, ok := strings.CutPrefix(path, folder)
		if n, err := strconv.ParseUint(number, 10, 31); ok && err == nil {
			switch n {
			case 1:
				return os.Stdout
			case 2:
				return os.Stderr
			}
			return os.NewFile(uintptr(n), path)
		}
	}
	return nil
}

// maxLinks is how many symbolic links may lead from one to the next.
const maxLinks = 40

// followLinks returns the path that a symbolic link to nothing leads to, or path if it is none.
func followLinks(path string) string {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err // without what is left in the buffer: the less of a failure gets out, the better
	}
	return b.Flush()
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := buffered(f, write); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// replaceFile writes a temporary file beside target, and gives it target's name when it is complete
// and on disk. The mode is that of target, 0 if there is no such file; path is how the caller named
// it, and how errors name the temporary file.
func replaceFile(path, target string, mode fs.FileMode, write func(io.Writer) error) error {
	removeStale(filepath.Dir(target))
	f, err := createBeside(path, target, mode)
	if err != nil {
		return err
	}
	err = fill(f, target, mode, write)
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at) && at.Path == f.Name():
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	return err
}

// fill writes a temporary file and gives it its name.
func fill(f *os.File, target string, mode fs.FileMode, write func(io.Writer) error) error {
	stop := removeOnSignal(f.Name())
	defer stop()
	defer os.Remove(f.Name()) // once renamed there is nothing to remove
	defer f.Close()
	if err := buffered(f, write); err != nil {
		return err
	}
	if mode != 0 {
		if err := f.Chmod(mode.Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	syncDir(filepath.Dir(target))
	return nil
}

// createBeside makes a new file in the folder of target, with the mode that a new file gets. One
// that is to replace a file is for its owner alone until it gets that file's mode. Its name is
// short, since target's may be as long as a name can be; an error names path.
func createBeside(path, target string, mode fs.FileMode) (*os.File, error) {
	perm := fs.FileMode(0o666)
	if mode != 0 {
		perm = 0o600
	}
	for {
		name := fmt.Sprintf(".afdo-%016x.tmp", rand.Uint64())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(target), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		var at *fs.PathError
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.As(err, &at):
			return nil, &fs.PathError{Op: "create", Path: path, Err: at.Err}
		}
		return f, err
	}
}

// syncDir makes a rename last through a crash. Not every system can do that to
// a folder, and the file is whole either way, so errors do not count.
func syncDir(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// removeOnSignal has a signal that ends the process remove a file first. The
// caller calls stop when the file need not be removed any more.
func removeOnSignal(path string) (stop func()) {
	signals := make(chan os.Signal, 1)
	for _, s := range cli.EndingSignals() {
		signal.Notify(signals, s)
	}
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			_ = os.Remove(path)
			raise(s)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// raise ends the process the way the signal would have.
func raise(s os.Signal) {
	signal.Reset(s)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		time.Sleep(time.Second) // for the signal to arrive
	}
	os.Exit(cli.StatusFault)
}
