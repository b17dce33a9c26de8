package driver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/profile"
)

// A profileFile is the file of a profile. [profileFile.look] sets info and state.
type profileFile struct {
	name  string // path or URL as the user gave it, for messages
	path  string
	info  fs.FileInfo
	state uint64              // a number that changes when the file changes or is replaced
	llvm  clangprofile.Format // the format of LLVM, FormatNone for a GCOV profile
}

// findProfile returns the profile for a command: the one that the command names, or else
// Launcher.Profile. The error is an [*unchanged] if the compiler cannot use that profile.
func (r *run) findProfile(c *command.Line) (*profileFile, error) {
	own := c.Profile
	p := &profileFile{name: own, path: c.Path(own)}
	if !c.Clang && own != "" && !isGCOV(p.path) {
		return nil, &unchanged{ReasonOwnProfile, fmt.Sprintf("its -fauto-profile=%s is no profile that can be read", own)}
	}
	if own == "" {
		if r.Profile == "" {
			return nil, ErrNoProfile
		}
		p = &profileFile{name: r.Profile, path: r.start.Path(r.Profile)}
		if _, isURL := fetch.Helper(r.Profile); isURL {
			var err error
			if p, err = r.download(r.Profile); err != nil {
				return nil, err
			}
		}
	}
	if c.Clang {
		return p, r.findForClang(c, p)
	}
	return p, nil
}

// findForClang finds out the format of a profile for clang, and stores it in p.llvm. It stores the
// option by which clang reads a profile in this format in c.Use.
func (r *run) findForClang(c *command.Line, p *profileFile) (err error) {
	if info, err := os.Stat(p.path); err == nil && info.IsDir() && c.Use == command.InstrUse {
		p.path = filepath.Join(p.path, "default.profdata")
	}
	p.llvm, err = clangprofile.FormatOf(p.path)
	if err == nil && p.llvm == clangprofile.FormatNone && !isGCOV(p.path) {
		err = errors.New(p.name + " is no profile that clang takes")
	}
	switch {
	case err != nil && c.Profile == "":
		return err
	case err != nil:
		return &unchanged{ReasonOwnProfile, err.Error()}
	case r.Bits != 0 && p.llvm != clangprofile.FormatNone:
		return errors.New("counts of profiles for clang cannot be rounded")
	case c.Use == "" && p.llvm == clangprofile.FormatInstrumented:
		c.Use = command.InstrUse
	case c.Use == "":
		c.Use = command.SampleUse
	}
	return nil
}

// look returns a copy of p with the present size, times and state of the file.
func (p profileFile) look() (*profileFile, error) {
	info, err := os.Stat(p.path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: p.name, Err: errors.New("is a folder")}
	}
	p.info, p.state = info, record.StateOf(info)
	return &p, nil
}

// replaced reports whether the file of the profile has changed since [profileFile.look] was called.
// It returns false for a file that is not regular, such as a pipe.
func (p *profileFile) replaced() bool {
	if p == nil || !p.info.Mode().IsRegular() {
		return false
	}
	now, err := p.look()
	return err != nil || now.state != p.state
}

// wrap puts the path of the profile before the message of an error, unless the error already names
// a file.
func (p *profileFile) wrap(err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// load reads the whole profile, in any format, and converts it to a GCOV profile.
func (p *profileFile) load() (*profile.Profile, error) {
	in, err := openAny(p.path, p.info.Mode())
	if err != nil {
		return nil, p.wrap(err)
	}
	defer in.Close()
	whole, err := in.GCOV()
	return whole, p.wrap(err)
}

// openAny opens a profile of any format at a path. mode is the mode of the file: if that is a pipe,
// openAny reads it to its end.
func openAny(path string, mode fs.FileMode) (*anyprof.Profile, error) {
	ctx := context.Background()
	if mode.IsRegular() {
		return anyprof.Open(ctx, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return anyprof.Read(ctx, file)
}

// reads reports whether the file is a GCOV profile of the given version, so that a compiler that
// reads this version can read it as it is. It returns false for a pipe, which can be read only
// once.
func (p *profileFile) reads(version uint32) bool {
	h, err := gcov.DecodeHeader(files.Head(p.path, 64))
	return err == nil && h.Version == version && h.ByteOrder == binary.LittleEndian
}

// isV4 reports whether a file is a profile in version 4 of the GCOV format.
func isV4(path string) bool { return formatOf(path) == anyprof.V4 }

// isGCOV reports whether a file is a profile of GCC, of any version.
func isGCOV(path string) bool { return formatOf(path).GCOV() }

// formatOf detects the format of a profile by its first bytes. The result is 0 if the format is
// unknown, or if the file cannot be read.
func formatOf(path string) anyprof.Format {
	format, _ := anyprof.Detect(files.Head(path, anyprof.HeadLen))
	return format
}

// requestSize is the number of bytes of a file that one request to a server asks for.
const requestSize = 4 << 20

// download returns a copy of a server's file in the cache. It asks the server for the file's
// version. If the cache has no copy of that version, one process downloads it and concurrent ones
// wait. Files larger than the limit of the cache are refused.
//
// If the server is too slow, the error is an [*unchanged]. Commands of the next minutes then get
// this error as well, without asking the server.
func (r *run) download(url string) (*profileFile, error) {
	slow := string(ReasonSlowServer) + ": " + url
	late := &unchanged{ReasonSlowServer, string(ReasonSlowServer)}
	if !r.Cache.files().Due(slow) && r.Cache.files() != nil {
		return nil, late
	}
	p, err := r.copyOf(url, func() bool { return r.Cache.files().Due(slow) })
	if errors.Is(err, context.DeadlineExceeded) {
		r.warnOf(command.Reason(slow), "%s: the server is too slow: files are compiled without the profile", fetch.Shown(url))
		return nil, late
	}
	if isCacheError(err) { // such as of a full disk
		r.warn("%s: the cache takes no copy of it: %v; files are compiled without the profile", fetch.Shown(url), err)
		return nil, &unchanged{ReasonNoPlace, string(ReasonNoPlace)}
	}
	return p, err
}

// copyOf returns the cache's copy of a file on a server. If the cache has none, copyOf downloads
// the file. If another process is already downloading it, copyOf waits for that process. After the
// wait it calls wanted, and gives up if the result is false.
func (r *run) copyOf(url string, wanted func() bool) (*profileFile, error) {
	request := fetch.Request{URL: url, Whole: true}
	if r.Cache != nil {
		request.MaxSize = r.Cache.store.MaxSize
	}
	f, err := fetch.Open(request)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Tag() == "" {
		return nil, fmt.Errorf("%s: the server sends neither an ETag nor a modification time, so a copy cannot be kept", f.Name())
	}
	path, err := r.Cache.files().Path(store.Profiles, fmt.Sprintf("%s\x00%s\x00%d", url, f.Tag(), f.Size()))
	if err != nil {
		return nil, fmt.Errorf("%s: its copy has no place: %w", f.Name(), err)
	}
	_, err = makeOnce(path, func(w io.Writer) error {
		if !wanted() { // another process waited for it in vain
			return context.DeadlineExceeded
		}
		head, err := anyprof.FileAt(r.ctx, f, f.Size()) // before more than the first bytes is read
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		defer head.Close()
		r.trace("downloading %s: %d bytes", f.Name(), f.Size())
		n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.NewSectionReader(f, 0, f.Size()), make([]byte, requestSize))
		if err == nil && n != f.Size() {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	return &profileFile{name: f.Name(), path: path}, err
}
