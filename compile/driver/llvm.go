package driver

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// wholeLLVM returns the path of the whole profile in a format that clang reads, and how many bytes
// were written to make that file. It has the same summary as slices of the profile, because a link
// with full LTO refuses modules with different summaries.
func (s source) wholeLLVM() (path string, n int64, err error) {
	path = s.file.path
	if s.file.llvm == clangprofile.FormatOtherSample || s.file.llvm == clangprofile.FormatNone {
		if path, err = s.extBinaryCopy(); err != nil {
			return "", 0, err
		}
	}
	if s.file.llvm == clangprofile.FormatNone || !s.steady() {
		return path, 0, nil
	}
	return s.keepWhole(s.extBinaryKey(s.summaryState()), func(w io.Writer) error {
		whole, err := sampleprof.Open(path)
		if err != nil {
			return s.file.wrap(err)
		}
		defer whole.Close()
		summary, err := s.steadySummary(whole.Summary)
		if err != nil {
			return err
		}
		return s.file.wrap(whole.WriteWithSummary(w, summary))
	})
}

// extBinaryKey returns the cache key of a copy of the profile in LLVM's format ExtBinary. summary
// identifies the summary of the copy, see [source.summaryState].
func (s source) extBinaryKey(summary string) string {
	return fmt.Sprintf("%s\x00%d\x00extbinary\x00%s\x00%d", s.file.path, s.file.state, summary, s.Bits)
}

// extBinaryCopy returns the path of a copy of the profile in LLVM's format ExtBinary, which clang
// reads fastest. If the cache has no copy, one process makes it and concurrent ones wait. The copy
// of a GCOV profile has the same summary as its slices.
func (s source) extBinaryCopy() (string, error) {
	file := s.file
	summary := "exact"
	if file.llvm == clangprofile.FormatNone {
		summary = s.summaryState()
	}
	path, err := s.Cache.files().Path(store.Profiles, s.extBinaryKey(summary))
	if err != nil {
		return "", fmt.Errorf("a profile that is not ExtBinary needs a cache for slices, %w", err)
	}
	_, err = makeOnce(path, func(w io.Writer) error {
		if file.llvm == clangprofile.FormatNone {
			return s.encodeWhole(w)
		}
		s.warn("converted a copy of %s to extbinary in the cache; \"afdo convert --to extbinary\" saves that", file.name)
		return file.wrap(clangprofile.CopyExtBinary(w, file.path))
	})
	return path, err
}
