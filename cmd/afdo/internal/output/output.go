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
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/files"
)

// JSON writes facts to standard output as a JSON object.
func JSON(stdout io.Writer, facts any) error {
	return Write(stdout, cli.Stdio, func(w io.Writer) error {
		var document bytes.Buffer
		enc := json.NewEncoder(&document)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(facts); err != nil {
			return err
		}
		rest := bytes.TrimPrefix(document.Bytes(), []byte("{\n"))
		_, err := w.Write(jsonstream.EscapeBidi(fmt.Appendf(nil, "{\n  %q: %d,\n%s", jsonstream.VersionKey, jsonstream.Version, rest)))
		return err
	})
}

// Facts writes the report of a verb to standard output. If asJSON is set, it writes facts as JSON,
// and otherwise the text that print writes.
func Facts(stdout io.Writer, asJSON bool, facts any, print func(io.Writer) error) error {
	if asJSON {
		return JSON(stdout, facts)
	}
	return Write(stdout, cli.Stdio, print)
}

// Write calls write to fill the file of a path. The file appears whole or not at all: an existing
// file stays until the new one is complete, and the new one gets its mode and, for root, its owner.
// Other hard links keep the old file. Write follows a symbolic link and replaces or makes its
// target. It writes directly to standard output, however it is named, and to anything that is not a
// regular file. If the name ends with .zst, the file is compressed.
func Write(stdout io.Writer, path string, write func(io.Writer) error) error {
	if strings.HasSuffix(path, ".zst") {
		write = compressed(write)
	}
	switch path {
	case "":
		return cli.Usagef("the path of the output is empty")
	case cli.Stdio:
		return buffered(stdout, write)
	}
	if f := descriptor(path); f != nil {
		return buffered(f, write)
	}
	target, regular, err := targetOf(path)
	switch {
	case err != nil:
		return err
	case !regular:
		return writeThrough(path, write)
	}
	return replaceFile(path, target, write, func(f *files.Pending) error { return f.Commit(true) })
}

// compressed returns a function that writes what write writes, compressed with zstd.
func compressed(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		c, err := anyprof.NewCompressor(w)
		if err == nil {
			err = write(c)
		}
		if err == nil {
			err = c.Close()
		}
		return err
	}
}

// targetOf follows the symbolic links of a path, and returns the file that they lead to. regular
// reports whether that is a regular file, or does not exist yet.
func targetOf(path string) (target string, regular bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return followLinks(path), true, nil
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular():
		return "", false, nil
	}
	target, err = filepath.EvalSymlinks(path)
	return target, true, err
}

// WritePair is like [Write] for two files that belong together, for example the two lists of a
// layout. If one of them cannot be written, the other is not replaced. If the process is killed,
// the file first may be missing, but an old file is never beside a new one.
func WritePair(stdout io.Writer, first, second string, writeFirst, writeSecond func(io.Writer) error) error {
	one, oneRegular, err := targetOf(first)
	two, twoRegular, err2 := targetOf(second)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	if !oneRegular || !twoRegular || descriptor(first) != nil || descriptor(second) != nil {
		return Write(stdout, first, func(w io.Writer) error {
			if err := writeFirst(w); err != nil {
				return err
			}
			return Write(stdout, second, writeSecond)
		})
	}
	return replaceFile(first, one, writeFirst, func(f *files.Pending) error {
		return replaceFile(second, two, writeSecond, func(g *files.Pending) error { return files.CommitPair(f, g) })
	})
}

// descriptor returns the open file that a path such as /dev/fd/3 names by its number, or nil.
// Opening such a path again would begin to write at the start of the file.
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

// maxLinks is the longest chain of symbolic links that followLinks follows.
const maxLinks = 40

// followLinks returns the file to which a symbolic link leads, although that file does not exist.
// It returns any other path unchanged.
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
		return err // the buffer is not flushed, so as little as possible of a failure is written
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

// replaceFile writes a new file in the folder of target, and calls commit when the file is
// complete. commit renames it to target. Errors name path, which is what the user has given.
func replaceFile(path, target string, write func(io.Writer) error, commit func(*files.Pending) error) error {
	files.RemoveStale(filepath.Dir(target))
	f, err := files.Create(path, target)
	if err != nil {
		return err
	}
	stop := removeOnSignal(f.TempName())
	defer stop()
	defer f.Discard()
	if err := buffered(f, write); err != nil {
		return err
	}
	return commit(f)
}

// removeOnSignal has the file at a path removed if a signal ends the process. The caller calls stop
// when that is no longer necessary.
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

// raise ends the process by the signal s, as if the process had not caught the signal.
func raise(s os.Signal) {
	signal.Reset(s)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		time.Sleep(time.Second) // for the signal to arrive
	}
	os.Exit(cli.StatusFault)
}
