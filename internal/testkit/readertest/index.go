package readertest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/profile/index"
)

// Scheme is the scheme for unqualified names in tests.
var Scheme = index.Scheme{Name: "test", Unqualified: Unqualified}

// Unqualified is an unqualified name that some names have. Other names equal it and therefore do
// not have it as an unqualified name.
func Unqualified(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name[strings.LastIndexAny(name, "_9a")+1:]
}

// Reindex adds an index to a file.
func Reindex(t testing.TB, data []byte, o *index.Options) []byte {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, index.Write(&b, r, o))
	return b.Bytes()
}

// Problems checks a file with options. It returns the errors and the remarks.
func Problems(data []byte, o check.Options) (faults, remarks []*afdo.FormatError) {
	o.Unqualified = Scheme
	for p := range check.V4(data, o) {
		if e, ok := p.Err.(*afdo.FormatError); !ok {
			faults = append(faults, &afdo.FormatError{Section: afdo.HeaderSection, Err: p.Err})
		} else if p.Remark {
			remarks = append(remarks, e)
		} else {
			faults = append(faults, e)
		}
	}
	return faults, remarks
}

// CheckFile returns the errors and the remarks for a file.
func CheckFile(data []byte) (faults, remarks []*afdo.FormatError) {
	return Problems(data, check.Options{})
}

// Has reports whether one of the problems has the given class.
func Has(problems []*afdo.FormatError, class error) bool {
	for _, p := range problems {
		if errors.Is(p, class) {
			return true
		}
	}
	return false
}
