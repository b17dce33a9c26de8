package gcovkind

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile/index"
)

// IndexFacts is what the index of a file says of itself.
type IndexFacts struct {
	Problem      string       `json:"problem,omitempty"` // why it is not used; nothing else is known then
	Producer     string       `json:"producer,omitempty"`
	BuildID      string       `json:"build_id,omitempty"` // in hexadecimal digits
	Unqualified  string       `json:"unqualified_scheme,omitempty"`
	Fingerprints string       `json:"fingerprint_scheme,omitempty"`
	Blocks       []BlockFacts `json:"blocks,omitempty"`
}

// BlockFacts is a part of an index.
type BlockFacts struct {
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
}

// newIndexFacts returns what there is to say of the index of a file, nil if it has none.
func newIndexFacts(r *afdo.Reader) (*IndexFacts, error) {
	x, err := index.Read(r)
	var info *index.Info
	if err == nil {
		info, err = x.Info()
	}
	switch {
	case errors.Is(err, afdo.ErrNotFound):
		return nil, nil
	case errors.Is(err, afdo.ErrMalformed):
		return &IndexFacts{Problem: strings.TrimPrefix(err.Error(), "afdo: ")}, nil
	case err != nil:
		return nil, err
	}
	f := &IndexFacts{
		Producer: info.Producer, BuildID: hex.EncodeToString(info.BuildID),
		Unqualified: info.Unqualified, Fingerprints: info.Fingerprints,
	}
	for _, b := range info.Blocks {
		f.Blocks = append(f.Blocks, BlockFacts{b.Kind, b.Size})
	}
	return f, nil
}

func (f *IndexFacts) table() *table.Table {
	t := &table.Table{Columns: "ll"}
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
			t.Row(fact[0], human.Name(fact[1]))
		}
	}
	for _, b := range f.Blocks {
		t.Row("Bytes of "+b.Kind, human.Number(b.Bytes))
	}
	return t
}
