package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestOneAnswer reads files in several ways: either all of them accept a file or all refuse it.
// check finds a fault in each refused file. It may also find one in an accepted file, see
// docs/rationale.md.
func TestOneAnswer(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/corrupt/*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	read, refused := 0, 0
	out := filepath.Join(t.TempDir(), "out")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		want := readAs(func() (*afdo.Reader, error) { return afdo.OpenBytes(data) })
		for name, open := range map[string]func() (*afdo.Reader, error){
			"mapped":          func() (*afdo.Reader, error) { return afdo.Open(path) },
			"in parts":        func() (*afdo.Reader, error) { return afdo.NewReader(bytes.NewReader(data), int64(len(data))) },
			"trusting":        func() (*afdo.Reader, error) { return afdo.Open(path, afdo.TrustIndex()) },
			"unsuspecting":    func() (*afdo.Reader, error) { return afdo.OpenBytes(data, afdo.SkipChecksums()) },
			"trusting blind":  func() (*afdo.Reader, error) { return afdo.Open(path, afdo.TrustIndex(), afdo.SkipChecksums()) },
			"a smaller bound": func() (*afdo.Reader, error) { return afdo.OpenBytes(data, afdo.MaxNameBytes(1<<20)) },
		} {
			assert.Equal(t, want == nil, readAs(open) == nil, "%s, %s: %v", path, name, want)
		}
		if version := new(afdo.VersionError); errors.As(want, &version) {
			continue // verbs read other versions, too
		}
		for _, to := range []string{"v4", "text", "v4c", "v3", "v2"}[:testenv.Rounds(1, 5)] {
			r := afdoRun("convert", path, "--to", to, "-o", out)
			assert.Equal(t, want == nil, r.status == cli.StatusDone, "%s --to %s: %v, %s", path, to, want, r.err)
		}
		faults := faultsOf(data)
		if want != nil {
			refused++
			assert.NotEmpty(t, faults, "%s: %v", path, want)
			continue
		}
		read++
		for _, fault := range faults {
			assert.True(t, tolerated(fault), "%s: %v", path, fault)
		}
	}
	assert.NotZero(t, read)
	assert.NotZero(t, refused)
}

// readAs reads a whole file with the reader that open returns.
func readAs(open func() (*afdo.Reader, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = profile.Read(r)
	return err
}

// faultsOf returns the faults that a check finds.
func faultsOf(data []byte) (faults []error) {
	for p := range check.File(data, check.Options{}) {
		if !p.Remark {
			faults = append(faults, p.Err)
		}
	}
	return faults
}

// tolerated reports whether readers accept a file with a fault that check reports.
func tolerated(err error) bool {
	var fault *afdo.FormatError
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Err {
	case afdo.ErrUnused, afdo.ErrMissing:
		return true
	case afdo.ErrName:
		return strings.HasPrefix(fault.Detail, "duplicate unit")
	case afdo.ErrTrie:
		return strings.HasPrefix(fault.Detail, "a leaf")
	}
	return false
}

// TestOneOutput checks that verbs print the same of a profile in any GCOV format as of that profile
// in version 4.
func TestOneOutput(t *testing.T) {
	for name, verb := range map[string][]string{
		"units":       {"units", "--json"},
		"unit":        {"lookup", "--unit", "cart.cc"},
		"unit's JSON": {"lookup", "--unit", "cart.cc", "--json"},
		"annotate":    {"annotate", "--unit", "cart.cc"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"v3", "text"} {
				old, v4 := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "v4")
				require.Zero(t, afdoRun("convert", "../../testdata/shop.afdo", "--to", format, "-o", old).status)
				require.Zero(t, afdoRun("convert", old, "--to", "v4", "-o", v4).status)
				got, want := afdoRun(append(verb, old)...), afdoRun(append(verb, v4)...)
				require.Zero(t, want.status, want.err)
				assert.Equal(t, want, got, format)
			}
		})
	}
}
