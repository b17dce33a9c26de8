// Package output writes files that appear whole or not at all.
package output

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-afdo/afdo/internal/cli"
)

// JSON writes facts to standard output for other programs.
func JSON(stdout io.Writer, facts any) error {
	return Write(stdout, cli.Stdio, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(facts)
	})
}

// Write has write fill the file of a path. The file appears whole or not at all, and a file that was
// there stays until then, and its mode after. Where that cannot be had, on standard output and for a
// device or a pipe, it is written to directly.
func Write(stdout io.Writer, path string, write func(io.Writer) error) error {
	if path == cli.Stdio {
		return buffered(stdout, write)
	}
	target, mode, err := resolveTarget(path)
	if err != nil {
		return err
	}
	if mode&fs.ModeType != 0 {
		return writeThrough(target, write)
	}
	return replaceFile(target, mode, write)
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err // without what is left in the buffer: the less of a failure gets out, the better
	}
	return b.Flush()
}

// resolveTarget follows symbolic links, so that the file behind them is
// replaced and not the link. The mode is 0 if there is no file yet.
func resolveTarget(path string) (target string, mode fs.FileMode, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, 0, nil
	}
	if target, err = filepath.EvalSymlinks(path); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", 0, err
	}
	return target, info.Mode(), nil
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

// replaceFile writes a temporary file beside target, and gives it target's name when it is complete and on disk.
func replaceFile(target string, mode fs.FileMode, write func(io.Writer) error) error {
	removeStale(filepath.Dir(target))
	f, err := createBeside(target)
	if err != nil {
		return err
	}
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

// Update writes data to the file of a path unless it holds just that: what has not changed keeps its
// time, and builds that go by it have nothing to do. The file appears whole or not at all, but may be
// lost in a crash.
func Update(path string, data []byte) (changed bool, err error) {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return false, nil
	}
	f, err := createBeside(path)
	if err != nil {
		return false, err
	}
	stop := removeOnSignal(f.Name())
	defer stop()
	defer os.Remove(f.Name()) // once renamed there is nothing to remove
	if _, err := f.Write(data); err != nil {
		f.Close()
		return false, err
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	return true, os.Rename(f.Name(), path)
}

// createBeside makes a new file in the folder of target, with the mode that
// target would get. Its name is short, since target's may be as long as a name can be.
func createBeside(target string) (*os.File, error) {
	for {
		name := fmt.Sprintf(".afdo-%016x.tmp", rand.Uint64())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(target), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
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
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
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
