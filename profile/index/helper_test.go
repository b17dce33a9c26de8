package index_test

import (
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/profile/index"
)

// An indexedReader is a Reader that trusts the index of its file, with a Program for the file.
type indexedReader struct {
	*afdo.Reader
	data    []byte
	program *index.Program
}

// plainReader is not an option of package afdo. It makes openIndexed not trust the index.
var plainReader afdo.Option

// openIndexed opens a file and trusts its index unless an option is plainReader.
func openIndexed(data []byte, o ...afdo.Option) (*indexedReader, error) {
	r, err := afdo.OpenBytes(data, trusting(o)...)
	return newIndexedReader(r, data), err
}

// trusting returns the options for openIndexed, with afdo.TrustIndex unless plainReader is among
// them.
func trusting(o []afdo.Option) []afdo.Option {
	plain := slices.ContainsFunc(o, func(o afdo.Option) bool { return o == nil })
	o = slices.DeleteFunc(slices.Clone(o), func(o afdo.Option) bool { return o == nil })
	if !plain {
		o = append(o, afdo.TrustIndex())
	}
	return o
}

func newIndexedReader(r *afdo.Reader, data []byte) *indexedReader {
	return &indexedReader{r, data, index.NewProgram(r)}
}

// indexedSources returns a Reader of data for each of the three ways to open a file.
func indexedSources(t *testing.T, data []byte, o ...afdo.Option) map[string]*indexedReader {
	t.Helper()
	readers := make(map[string]*indexedReader)
	for name, r := range readertest.Sources(t, data, trusting(o)...) {
		readers[name] = newIndexedReader(r, data)
	}
	return readers
}

func (r *indexedReader) info() (*index.Info, error) {
	x, err := index.Read(r.Reader)
	if err != nil {
		return nil, err
	}
	return x.Info()
}

func (r *indexedReader) fingerprint(u *afdo.Unit) (uint64, error) {
	x, err := index.Read(r.Reader)
	if err != nil {
		return 0, err
	}
	return x.Fingerprint(u)
}

// elsewhere iterates over the functions of other units into which functions of unit u were inlined.
func (r *indexedReader) elsewhere(u *afdo.Unit) iter.Seq2[afdo.Symbol, error] {
	return func(yield func(afdo.Symbol, error) bool) {
		var ids []afdo.SymbolID
		for s, err := range u.Symbols() {
			if err != nil {
				yield(s, err)
				return
			}
			ids = append(ids, s.ID())
		}
		for s, err := range r.program.InlinedInto(ids) {
			if err == nil && s.Unit().Index() == u.Index() {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

func (r *indexedReader) reindex(w io.Writer, o *index.Options) error {
	return index.Write(w, r.Reader, o)
}
