package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/go-afdo/afdo/internal/pattern"
)

// A Pending is a new file that will replace a target. It is written under a temporary name in the
// target's folder, until Commit gives it the target's name. The caller has to call Discard in any
// case.
type Pending struct {
	file   *os.File
	path   string // of the target, as the caller named it, for errors
	target string // the file that is replaced, with symbolic links followed
	exists bool   // the target exists, so its mode and owner are kept
	mode   fs.FileMode
}

// Create creates the file that will replace path. target is path itself or, if path is a symbolic
// link, the file to which it leads. If the target exists, the new file gets its mode and, for root,
// its owner. Otherwise it gets the mode of a new file. Errors name path.
func Create(path, target string) (*Pending, error) {
	p := &Pending{path: path, target: target}
	perm := fs.FileMode(0o666)
	if info, err := os.Stat(target); err == nil {
		p.exists, p.mode, perm = true, info.Mode().Perm(), 0o600 // for the owner alone until Commit
	}
	for {
		// The name is short, because the target's may be as long as a name can be.
		name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".afdo-%016x.tmp", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, p.about("create", err)
		}
		p.file = f
		return p, nil
	}
}

// about returns err with the path of the target in place of the temporary file's path.
func (p *Pending) about(op string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		return &fs.PathError{Op: op, Path: p.path, Err: at.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: op, Path: p.path, Err: link.Err}
	}
	return err
}

// TempName returns the temporary path that the file has before Commit.
func (p *Pending) TempName() string { return p.file.Name() }

// Write appends data to the new file, which still has its temporary name.
func (p *Pending) Write(data []byte) (int, error) {
	n, err := p.file.Write(data)
	return n, p.about("write", err)
}

// Commit gives the new file the name of its target. If durable is set, it first waits until the
// disk has the content, so that the target is complete even after a crash of the machine.
func (p *Pending) Commit(durable bool) error {
	if err := p.complete(durable); err != nil {
		return err
	}
	return p.rename(durable)
}

// CommitPair commits two files that belong together. It removes the first target, replaces the
// second, and then replaces the first. So if the process is killed in between, the first file may
// be missing, but a new file is never beside an old one.
func CommitPair(first, second *Pending) error {
	if err := errors.Join(first.complete(true), second.complete(true)); err != nil {
		return err
	}
	if err := os.Remove(first.target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return first.about("remove", err)
	}
	if err := second.rename(true); err != nil {
		return err
	}
	return first.rename(true)
}

// complete does the steps of Commit before the file is renamed: it sets the mode, waits for the
// disk and closes the file.
func (p *Pending) complete(durable bool) error {
	if p.exists {
		if err := p.file.Chmod(p.mode); err != nil {
			return p.about("chmod", err)
		}
		keepOwner(p.file, p.target)
	}
	if durable {
		if err := p.file.Sync(); err != nil {
			return p.about("sync", err)
		}
	}
	if err := p.file.Close(); err != nil {
		return p.about("close", err)
	}
	return nil
}

// rename gives the temporary file the name of the target. If durable is set, it waits until the
// disk has the new name.
func (p *Pending) rename(durable bool) error {
	if err := os.Rename(p.file.Name(), p.target); err != nil {
		return p.about("rename", err)
	}
	if durable {
		syncFolder(filepath.Dir(p.target))
	}
	return nil
}

// Discard removes the new file, unless Commit has already given it the name of its target.
func (p *Pending) Discard() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name()) // after a Commit there is no such file
}

// syncFolder waits until the disk has the names in a folder. Errors are ignored, because some
// systems cannot do this, and without it the renamed file is still complete.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Replace replaces the content of a file by data. The new content appears completely or not at all.
// It may be lost in a crash of the machine, so Replace is for files that can be made again.
func Replace(path string, data []byte) error {
	p, err := Create(path, path)
	if err != nil {
		return err
	}
	defer p.Discard()
	if _, err := p.Write(data); err != nil {
		return err
	}
	return p.Commit(false)
}

// StaleAfter is the age after which [RemoveStale] removes a temporary file.
const StaleAfter = time.Hour

// maxStale is how many names of a folder RemoveStale checks at most.
const maxStale = 4096

// pendingName matches the temporary names of Pending files.
var pendingName = pattern.Of(`^\.afdo-[0-9a-f]{16}\.tmp$`)

// IsPending reports whether name is the temporary name of a [Pending] file.
func IsPending(name string) bool { return pendingName().MatchString(name) }

// RemoveStale removes from a folder the temporary files of processes that were killed. (A process
// that fails or gets a signal removes its own.) It keeps files that were written within the last
// hour, since they may be in use. Errors are ignored.
func RemoveStale(folder string) {
	d, err := os.Open(folder)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxStale)
	for _, name := range names {
		if !IsPending(name) {
			continue
		}
		path := filepath.Join(folder, name)
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > StaleAfter {
			_ = os.Remove(path)
		}
	}
}
