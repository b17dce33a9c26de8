package driver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

func lookAtProfile(name, path string) (*profileFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	return &profileFile{name: name, path: path, info: info, state: record.StateOf(info)}, nil
}

// wrap puts the name of the profile before an error that names no file.
func (p *profileFile) wrap(err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// load reads a whole profile of any format.
func (p *profileFile) load() (*profile.Profile, error) {
	in, err := openAny(p.path, p.info.Mode())
	if err != nil {
		return nil, p.wrap(err)
	}
	defer in.Close()
	whole, err := in.GCOV()
	return whole, p.wrap(err)
}

// openAny opens a profile of any format, from whatever can be read.
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

// openProgram opens the profile for slices, with the summary that these have.
func (p *preparation) openProgram() (*slice.Program, func(), error) {
	program, closeFile, err := p.openWhole()
	if err != nil {
		return nil, nil, err
	}
	if program, err = p.withSummary(program); err != nil {
		closeFile()
		return nil, nil, err
	}
	return program, closeFile, nil
}

// openWhole opens the profile itself, if it has an index for slices, and else a copy of it in the
// cache that has one.
func (p *preparation) openWhole() (*slice.Program, func(), error) {
	file := p.profile
	if !file.info.Mode().IsRegular() { // it can be read once
		whole, err := file.load()
		if err != nil {
			return nil, nil, err
		}
		return slice.FromProfile(whole), func() {}, nil
	}
	if isV4(file.path) {
		program, closeFile, err := openIndexed(file.path)
		if err == nil || !errors.Is(err, errNoIndex) {
			return program, closeFile, file.wrap(err)
		}
	}
	path, err := p.indexedCopy()
	if err == nil {
		program, closeFile, err := openIndexed(path)
		if err == nil {
			return program, closeFile, nil
		}
		_ = os.Remove(path) // it is damaged
	} else if !isCacheError(err) {
		return nil, nil, err
	}
	whole, err := file.load()
	if err != nil {
		return nil, nil, err
	}
	return slice.FromProfile(whole), func() {}, nil
}

// cacheError is an error of the cache, without which things go on.
type cacheError struct{ error }

func isCacheError(err error) bool {
	var c cacheError
	return errors.As(err, &c)
}

var errNoIndex = errors.New("no index for slices")

// openIndexed opens a version 4 file that has an index for slices. The index is believed: a profile
// decides as much of what a compiler makes as its index could.
func openIndexed(path string) (*slice.Program, func(), error) {
	r, err := afdo.Open(path, afdo.TrustIndex())
	if err != nil {
		return nil, nil, err
	}
	program, err := programOf(r)
	if err != nil {
		_ = r.Close()
		return nil, nil, err
	}
	return program, func() { _ = r.Close() }, nil
}

func programOf(r *afdo.Reader) (*slice.Program, error) {
	x, err := index.Read(r)
	if errors.Is(err, afdo.ErrNotFound) || errors.Is(err, afdo.ErrIndex) {
		return nil, errNoIndex
	}
	if err != nil {
		return nil, err
	}
	info, err := x.Info()
	if err != nil {
		return nil, err
	}
	if info.Unqualified != slice.Names.Name {
		return nil, errNoIndex
	}
	return slice.FromReader(r)
}

// indexedCopy returns the path of a copy of the profile that has an index. Of several processes one
// makes it, and the others wait.
func (p *preparation) indexedCopy() (string, error) {
	file := p.profile
	path, err := p.Cache.files().Path(store.Profiles, fmt.Sprintf("%s\x00%d\x00%s\x00sources", file.path, file.state, slice.Names.Name))
	if err != nil {
		return "", cacheError{err}
	}
	return path, p.makeOnce(path, func(w io.Writer) error {
		whole, err := file.load()
		if err != nil {
			return err
		}
		p.warn("indexed a copy of %s in the cache; \"afdo convert --to v4c --index\" makes a profile with an index", file.name)
		return builder.Write(w, whole, builder.Options{Compact: true, Index: &index.Options{Unqualified: slice.Names}})
	})
}

// makeOnce fills a file of the cache unless it is there.
func (p *preparation) makeOnce(path string, write func(io.Writer) error) error {
	if _, err := os.Stat(path); err == nil {
		store.MarkUsed(path)
		return nil
	}
	unlock, err := store.LockFile(path + "-lock")
	if err != nil {
		return cacheError{err}
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return err
	}
	if err := files.Replace(path, data.Bytes()); err != nil {
		return cacheError{err}
	}
	return nil
}

// wholeProfile returns the path of the whole profile in the version that the
// compiler reads, and how many bytes have been written for that.
func (p *preparation) wholeProfile() (path string, n int64, err error) {
	file, version := p.profile, p.compiler.Reads()
	if p.compiler.Clang {
		return p.wholeLLVM()
	}
	if p.Bits == 0 && !p.steady() && file.reads(version) {
		return file.path, 0, nil
	}
	encode := func() ([]byte, error) {
		program, closeFile, err := p.openProgram()
		if err != nil {
			return nil, err
		}
		defer closeFile()
		whole, err := program.Whole(p.Bits)
		if err != nil {
			return nil, file.wrap(err)
		}
		return encodeProfile(whole, p.compiler)
	}
	path, err = p.Cache.files().Path(store.Profiles, fmt.Sprintf("%s\x00%d\x00version %d\x00%s\x00%d", file.path, file.state, version, p.summaryState(), p.Bits))
	if err == nil {
		err = p.makeOnce(path, func(w io.Writer) error {
			data, err := encode()
			if err == nil {
				n = int64(len(data))
				_, err = w.Write(data)
			}
			return err
		})
		if err == nil || !isCacheError(err) {
			return path, n, err
		}
	}
	data, err := encode()
	if err != nil {
		return "", 0, err
	}
	path, _, err = p.keepSlice(data)
	return path, int64(len(data)), err
}

// reads reports whether a file already has a version. A pipe never does, because it can be read
// only once.
func (p *profileFile) reads(version uint32) bool {
	f, _, err := files.Open(p.path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := f.Read(head)
	h, err := gcov.DecodeHeader(head[:n])
	return err == nil && h.Version == version && h.ByteOrder == binary.LittleEndian
}

// encodeProfile writes a profile in the format that a compiler reads.
func encodeProfile(p *profile.Profile, compiler *Compiler) ([]byte, error) {
	if compiler.Clang {
		return EncodeForClang(p)
	}
	var file bytes.Buffer
	_, err := gcov.Write(&file, p, gcov.WriteOptions{Version: compiler.Reads()})
	return file.Bytes(), err
}

// requestSize is how many bytes of a file a request is for.
const requestSize = 4 << 20

// given returns the profile of the launcher: its name for messages and the path of the file.
func (p *preparation) given() (name, path string, err error) {
	if _, isURL := fetch.Helper(p.Profile); isURL {
		return p.download(p.Profile)
	}
	return p.Profile, p.command.Path(p.Profile), nil
}

// download returns the path of a copy of a server's file in the cache. It asks the server for the
// version of the file. If that is new, one process downloads the file and the others wait. The
// cache's size limits the file.
func (p *preparation) download(url string) (name, path string, err error) {
	request := fetch.Request{URL: url, Whole: true}
	if p.Cache != nil {
		request.MaxSize = p.Cache.maxSize
	}
	f, err := fetch.Open(request)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	if f.Tag() == "" {
		return "", "", fmt.Errorf("%s: the server sends neither an ETag nor a modification time, so a copy cannot be kept", f.Name())
	}
	path, err = p.Cache.files().Path(store.Profiles, fmt.Sprintf("%s\x00%s\x00%d", url, f.Tag(), f.Size()))
	if err != nil {
		return "", "", fmt.Errorf("%s: its copy has no place: %w", f.Name(), err)
	}
	err = p.makeOnce(path, func(w io.Writer) error {
		p.trace("downloading %s: %d bytes", f.Name(), f.Size())
		n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.NewSectionReader(f, 0, f.Size()), make([]byte, requestSize))
		if err == nil && n != f.Size() {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	return f.Name(), path, err
}
