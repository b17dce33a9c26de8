package contrib

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// The shapes that dump.js prints.
type (
	unit struct {
		Path    string   `json:"path"`
		Symbols []symbol `json:"symbols"`
	}
	symbol struct {
		ID        uint32     `json:"id"`
		Name      string     `json:"name"`
		Head      *uint64    `json:"head,omitempty"`
		Locations []location `json:"locations,omitempty"`
	}
	location struct {
		Type          uint8       `json:"type"`
		Line          uint32      `json:"line"`
		Discriminator uint32      `json:"discriminator,omitempty"`
		Count         uint64      `json:"count,omitempty"`
		Targets       [][2]uint64 `json:"targets,omitempty"`
		Callee        *uint32     `json:"callee,omitempty"`
		Inlined       []location  `json:"inlined,omitempty"`
	}
)

// parsed returns the units of a file as the parser reads them that Kaitai Struct generates from
// gcov_v4.ksy.
func parsed(t *testing.T, path string) []unit {
	t.Helper()
	cmd := exec.Command("node", filepath.Join("kaitai", "dump.js"), path)
	out, err := cmd.Output()
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("node with kaitai-struct-compiler, kaitai-struct and js-yaml in NODE_PATH is needed")
		}
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = string(exit.Stderr)
		}
		t.Fatalf("node dump.js %s: %v\n%s", path, err, stderr)
	}
	var units []unit
	require.NoError(t, json.Unmarshal(out, &units))
	return units
}

// readUnits returns the units of a file as package afdo reads them.
func readUnits(t *testing.T, path string) []unit {
	t.Helper()
	r, err := afdo.Open(path)
	require.NoError(t, err)
	defer r.Close()
	var units []unit
	for u, err := range r.Units() {
		require.NoError(t, err)
		found := unit{Path: u.Path(), Symbols: []symbol{}}
		for s, err := range u.Symbols() {
			require.NoError(t, err)
			found.Symbols = append(found.Symbols, readSymbol(t, s))
		}
		units = append(units, found)
	}
	return units
}

func readSymbol(t *testing.T, s afdo.Symbol) symbol {
	found := symbol{ID: uint32(s.ID()), Name: s.Name()}
	if !s.HasInfo() {
		return found
	}
	info, err := s.Info()
	require.NoError(t, err)
	found.Head = &info.HeadCount
	cursor := info.Cursor()
	enclosing := []*[]location{&found.Locations} // by depth
	for cursor.Next() {
		enclosing = enclosing[:cursor.Depth()+1]
		list := enclosing[cursor.Depth()]
		l := cursor.Location()
		*list = append(*list, location{Type: uint8(l.Type), Line: l.Line, Discriminator: l.Discriminator, Count: l.Count})
		record := &(*list)[len(*list)-1]
		for target := range cursor.Targets() {
			record.Targets = append(record.Targets, [2]uint64{uint64(target.Callee), target.Count})
		}
		if l.Type == afdo.LocationInlinedFn {
			callee := uint32(l.Callee)
			record.Callee = &callee
			enclosing = append(enclosing, &record.Inlined)
		}
	}
	require.NoError(t, cursor.Err())
	return found
}

// TestKaitai compares what the generated parser reads with what package afdo reads.
func TestKaitai(t *testing.T) {
	for _, name := range []string{"shop.compact.afdo", "shop.afdo"}[:testenv.Rounds(1, 2)] {
		path := filepath.Join("..", "testdata", name)
		require.Equal(t, readUnits(t, path), parsed(t, path), name)
	}
}
