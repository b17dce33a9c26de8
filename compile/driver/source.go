package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// A source makes the slice of the profile for one compile. It consists of the launcher's state for
// the command, and of what earlier stages have found out, such as the profile and the compiler.
type source struct {
	*run
	*unit
}

// newStamp returns a hash of everything that the slice depends on, except the line numbers of the
// sources: the profile, the text that the compile reads, the compiler's format, the launcher's
// options and this program.
func (s source) newStamp() planned.Stamp {
	h := xxhash.New()
	fmt.Fprintf(h, "%s\x00%d\x00%d\x00%s\x00%d\x00%t\x00%d\x00%d", s.file.path, s.file.state, s.compiler.Reads(), s.summaryState(), s.Bits, s.NoRebase, s.inputs.Record.Sum(), selfState())
	if s.arcs {
		fmt.Fprintf(h, "\x00%s", s.notesKey())
	}
	return planned.Stamp(h.Sum64())
}

// open opens the profile, from which slices are then selected. If slices get a rounded summary, the
// opened profile has that summary in place of its own. The caller must call the returned function
// to close the profile.
func (s source) open() (*slice.Program, func(), error) {
	program, closeFile, err := s.openWhole()
	if err != nil || !s.steady() {
		return program, closeFile, err
	}
	summary, err := s.steadySummary(program.Summary)
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return program.WithSummary(summary), closeFile, nil
}

// openWhole opens the profile with its own summary. If the file has no index for slices, openWhole
// opens a copy in the cache that has one, or without a cache reads the whole profile.
func (s source) openWhole() (*slice.Program, func(), error) {
	file := s.file
	if !file.info.Mode().IsRegular() { // it can be read once
		return file.program()
	}
	if isV4(file.path) {
		program, closeFile, err := openIndexed(file.path)
		if err == nil || !errors.Is(err, errNoIndex) {
			return program, closeFile, file.wrap(err)
		}
	}
	path, err := s.indexedCopy()
	if err == nil {
		program, closeFile, err := openIndexed(path)
		if err == nil {
			return program, closeFile, nil
		}
		_ = os.Remove(path) // it is damaged
	} else if !isCacheError(err) {
		return nil, nil, err
	}
	return file.program()
}

// program reads the whole profile into memory. The returned function, which other ways of opening a
// profile need to close its file, does nothing.
func (f *profileFile) program() (*slice.Program, func(), error) {
	whole, err := f.load()
	if err != nil {
		return nil, nil, err
	}
	return slice.FromProfile(whole), func() {}, nil
}

// A cacheError is an error of reading or writing the cache. It does not fail the command: the
// launcher goes on without the cache.
type cacheError struct{ error }

// isCacheError reports whether reading or writing the cache has caused an error, see [cacheError].
func isCacheError(err error) bool {
	var c cacheError
	return errors.As(err, &c)
}

// errNoIndex is the error of [openIndexed] for a profile without an index by which slices can be
// found.
var errNoIndex = errors.New("no index for slices")

// openIndexed opens a version 4 profile whose index finds the functions for a slice, and returns
// errNoIndex if it has no such index. It does not verify the index: a wrong index could do no more
// harm than wrong counts.
func openIndexed(path string) (*slice.Program, func(), error) {
	r, err := afdo.Open(path, afdo.TrustIndex())
	if err != nil {
		return nil, nil, err
	}
	program, err := slice.FromReader(r)
	if err == nil && !program.Indexed() {
		err = errNoIndex
	}
	if err != nil {
		_ = r.Close()
		return nil, nil, err
	}
	return program, func() { _ = r.Close() }, nil
}

// indexedCopy returns the path of a copy of the profile in the cache that has an index. With the
// index, the functions of one compile are found without reading all others. If the cache has no
// copy, one process makes it and concurrent ones wait.
func (s source) indexedCopy() (string, error) {
	file := s.file
	path, err := s.Cache.files().Path(store.Profiles, fmt.Sprintf("%s\x00%d\x00%s\x00sources", file.path, file.state, slice.Names.Name))
	if err != nil {
		return "", cacheError{err}
	}
	n, err := makeOnce(path, func(w io.Writer) error {
		whole, err := file.load()
		if err != nil {
			return err
		}
		return builder.Write(w, whole, builder.Options{Compact: true, Index: &index.Options{Unqualified: slice.Names}})
	})
	const advice = "\"afdo convert --to v4c --index\" makes a profile with an index"
	switch {
	case n > 0:
		s.warn("indexed a copy of %s in the cache; "+advice, file.name)
	case isCacheError(err):
		s.warn("each compile reads all of %s, because the cache takes no copy with an index: %v; "+advice, file.name, err)
	}
	return path, err
}

// makeOnce calls write to make a file of the cache, unless it exists. Concurrent processes that
// need the file wait for the one that makes it. makeOnce returns the number of bytes written.
func makeOnce(path string, write func(io.Writer) error) (n int64, err error) {
	if _, err := os.Stat(path); err == nil {
		store.MarkUsed(path)
		return 0, nil
	}
	unlock, err := store.LockFile(path + "-lock")
	if err != nil {
		return 0, cacheError{err}
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return 0, nil
	}
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return 0, err
	}
	if err := files.Replace(path, data.Bytes()); err != nil {
		return 0, cacheError{err}
	}
	return int64(data.Len()), nil
}

// whole returns the path of a file with the whole profile, in the version of the format that the
// compiler reads. It makes the file if necessary. n is how many bytes it has written for that.
func (s source) whole() (path string, n int64, err error) {
	file, version := s.file, s.compiler.Reads()
	if s.compiler.Clang {
		return s.wholeLLVM()
	}
	if s.Bits == 0 && !s.steady() && file.reads(version) {
		return file.path, 0, nil
	}
	return s.keepWhole(fmt.Sprintf("%s\x00%d\x00version %d\x00%s\x00%d", file.path, file.state, version, s.summaryState(), s.Bits), s.encodeWhole)
}

// keepWhole calls write to make a file with the whole profile. It makes the file in the cache,
// under a key, or uses the one that is there. If the cache cannot be used, it makes the file in the
// folder for temporary files. keepWhole returns the path and the number of bytes written.
func (s source) keepWhole(key string, write func(io.Writer) error) (path string, n int64, err error) {
	if path, err = s.Cache.files().Path(store.Profiles, key); err == nil {
		if n, err = makeOnce(path, write); err == nil || !isCacheError(err) {
			return path, n, err
		}
	}
	var data bytes.Buffer
	if err := write(&data); err != nil {
		return "", 0, err
	}
	path, _, err = s.keepSlice(data.Bytes())
	return path, int64(data.Len()), err
}

// encodeWhole writes the whole profile, in the version of the GCOV format that the compiler reads.
func (s source) encodeWhole(w io.Writer) error {
	program, closeFile, err := s.open()
	if err != nil {
		return err
	}
	defer closeFile()
	whole, err := program.Whole(s.Bits)
	if err != nil {
		return s.file.wrap(err)
	}
	data, err := encodeProfile(whole, s.compiler)
	if err != nil {
		return s.file.wrap(err)
	}
	_, err = w.Write(data)
	return err
}

// encodeProfile encodes a profile in the version of the GCOV format that the compiler reads, or for
// clang in ExtBinary.
func encodeProfile(p *profile.Profile, compiler *toolchain.Compiler) ([]byte, error) {
	if compiler.Clang {
		return clangprofile.Encode(p)
	}
	var file bytes.Buffer
	_, err := gcov.Write(&file, p, gcov.WriteOptions{Version: compiler.Reads()})
	return file.Bytes(), err
}
