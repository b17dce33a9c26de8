package main

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-afdo/afdo"
)

// indexFacts is what the index of a file says of itself.
type indexFacts struct {
	Problem      string       `json:"problem,omitempty"` // why it is not used; nothing else is known then
	Producer     string       `json:"producer,omitempty"`
	BuildID      string       `json:"build_id,omitempty"` // in hexadecimal digits
	Unqualified  string       `json:"unqualified_scheme,omitempty"`
	Fingerprints string       `json:"fingerprint_scheme,omitempty"`
	Blocks       []blockFacts `json:"blocks,omitempty"`
}

// blockFacts is a part of an index.
type blockFacts struct {
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
}

// newIndexFacts returns what there is to say of the index of a file, nil if it has none.
func newIndexFacts(r *afdo.Reader) (*indexFacts, error) {
	info, err := r.Index()
	switch {
	case errors.Is(err, afdo.ErrNotFound):
		return nil, nil
	case errors.Is(err, afdo.ErrMalformed):
		return &indexFacts{Problem: strings.TrimPrefix(err.Error(), "afdo: ")}, nil
	case err != nil:
		return nil, err
	}
	f := &indexFacts{
		Producer: info.Producer, BuildID: hex.EncodeToString(info.BuildID),
		Unqualified: info.Unqualified, Fingerprints: info.Fingerprints,
	}
	for _, b := range info.Blocks {
		f.Blocks = append(f.Blocks, blockFacts{b.Kind, b.Size})
	}
	return f, nil
}

func (f *indexFacts) table() *table {
	t := &table{columns: "ll"}
	if f == nil {
		return t
	}
	for _, fact := range [][2]string{
		{"Not used", f.Problem},
		{"Producer", f.Producer},
		{"Build ID", f.BuildID},
		{"Unqualified names", f.Unqualified},
		{"Fingerprints", f.Fingerprints},
	} {
		if fact[1] != "" {
			t.row(fact[0], printable(fact[1]))
		}
	}
	for _, b := range f.Blocks {
		t.row("Bytes of "+b.Kind, grouped(b.Bytes))
	}
	return t
}
