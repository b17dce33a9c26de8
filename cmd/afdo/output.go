package main

import (
	"bufio"
	"encoding/binary"
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

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// An output says where a profile goes and in which format.
type output struct {
	path      string
	format    format
	bigEndian bool
	index     bool
}

// addFlags gives a verb the flags -o, --to, --index and --big-endian.
func (o *output) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.path, "output", "o", stdio, `file to write, "-" for standard output`)
	f.Var(&o.format, "to", "format to write: v4, v4c, v3, v2 or text")
	f.BoolVar(&o.bigEndian, "big-endian", false, "write v2 or v3 in big-endian byte order")
	f.BoolVar(&o.index, "index", false, `write v4 or v4c with an index, see "afdo help index"`)
	_ = cmd.MarkFlagRequired("to")
	_ = cmd.RegisterFlagCompletionFunc("to", completeFormats)
}

// check refuses what makes no sense before any work is done.
func (o *output) check(e *env) error {
	if o.bigEndian && !o.format.old() {
		return usageErrorf("--big-endian is for v2 and v3: %s has one byte order", formatNames[o.format])
	}
	if o.index && !o.format.v4() {
		return usageErrorf("--index is for v4 and v4c: %s has no place for one", formatNames[o.format])
	}
	if o.format != formatText && o.onTerminal(e) {
		return usageErrorf("%s is not for a terminal: use -o FILE", formatNames[o.format])
	}
	return nil
}

// onTerminal tells whether what is written appears on a terminal.
func (o *output) onTerminal(e *env) bool { return o.path == stdio && isTerminal(e.out) }

// writeProfile writes a profile and says on standard error what the format could not hold.
func (e *env) writeProfile(o output, p *profile.Profile) error {
	var losses gcov.Losses
	err := e.withOutput(o.path, func(w io.Writer) (err error) {
		losses, err = encode(w, o, p)
		return err
	})
	if text := losses.String(); err == nil && text != "" {
		e.warnf("%s cannot hold everything: %s", formatNames[o.format], text)
	}
	return err
}

func encode(w io.Writer, o output, p *profile.Profile) (gcov.Losses, error) {
	old := gcov.WriteOptions{Version: 3, ByteOrder: binary.LittleEndian}
	if o.bigEndian {
		old.ByteOrder = binary.BigEndian
	}
	switch o.format {
	case formatV4, formatV4Compact:
		return gcov.Losses{}, encodeV4(w, o, p)
	case formatV2:
		old.Version = 2
		return gcov.Write(w, p, old)
	case formatV3:
		return gcov.Write(w, p, old)
	default:
		return gcov.Losses{}, textfmt.PrintProfile(w, p)
	}
}

func encodeV4(w io.Writer, o output, p *profile.Profile) error {
	options := builder.Options{Compact: o.format == formatV4Compact}
	if o.index {
		options.Index = newIndexOptions()
		if err := addFingerprints(options.Index, p); err != nil {
			return err
		}
	}
	return builder.Write(w, p, options)
}

// warnf says something on standard error that is no reason to stop.
func (e *env) warnf(format string, args ...any) {
	fmt.Fprintf(e.err, "afdo: "+format+"\n", args...)
}

// isTerminal tells whether something written there is read by a person.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printJSON writes facts to standard output for other programs.
func (e *env) printJSON(facts any) error {
	return e.withOutput(stdio, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(facts)
	})
}

// withOutput has write fill the file of a path. The file appears whole or not
// at all, and a file that was there stays until then, and its mode after. Where
// that cannot be had, on standard output and for a device or a pipe, it is written to directly.
func (e *env) withOutput(path string, write func(io.Writer) error) error {
	if path == stdio {
		return buffered(e.out, write)
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
	os.Exit(statusFault)
}
