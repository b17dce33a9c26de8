package memprof_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/testkit/gen"
)

const fuzzOffset = 4096

// sectionOf encodes a profile as a section that begins at fuzzOffset.
func sectionOf(t testing.TB, p *memprof.Profile, version int) []byte {
	t.Helper()
	section, err := p.Section(version, fuzzOffset)
	require.NoError(t, err)
	return section
}

// samples returns sections of small profiles, of every version and several schemas.
func samples(t testing.TB) (sections [][]byte) {
	rng := rand.New(rand.NewPCG(3, 4))
	for version := 2; version <= 4; version++ {
		for _, schema := range []memprof.Schema{memprof.DefaultSchema(), memprof.FullSchema(), {memprof.TotalSize, memprof.AllocCount}} {
			for _, functions := range []int{0, 1, 4} {
				p := randomProfile(rng, functions, schema)
				if functions == 0 {
					p.AddRecord(schema, memprof.Record{Function: 1})
				}
				sections = append(sections, sectionOf(t, p, version))
			}
		}
	}
	read, err := memprof.ParseYAML(strings.NewReader(smallText))
	require.NoError(t, err)
	return append(sections, sectionOf(t, read, 4))
}

const smallText = `---
HeapProfileRecords:
  - GUID: main
    AllocSites:
      - Callstack:
          - { Function: 0x1, LineOffset: 1, Column: 2, IsInlineFrame: true }
          - { Function: main, LineOffset: 3, Column: 4, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 1
          TotalSize: 8
    CallSites:
      - Frames: [ { Function: 'x', LineOffset: 0x1, Column: 0, IsInlineFrame: no } ]
        CalleeGuids: [ 0x5, f ]
DataAccessProfiles:
  SampledRecords:
    - Symbol: "a\tb"
      AccessCount: 100
      Locations:
      - FileName: a.h # a comment
        Line: 1
    - { Hash: 5, AccessCount: 6 }
  KnownColdSymbols: [ foo ]
  KnownColdStrHashes: [ 1, 2 ]
...
`

// decoded reads all records, stacks and data accesses of a section, as plain does.
func decoded(r *memprof.Reader) error {
	for rec, err := range r.Records() {
		if err != nil {
			return err
		}
		ids := make([]memprof.StackID, 0, len(rec.Allocs)+len(rec.Calls))
		for _, a := range rec.Allocs {
			ids = append(ids, a.Stack)
		}
		for _, c := range rec.Calls {
			ids = append(ids, c.Stack)
		}
		for _, id := range ids {
			for _, err := range r.Frames(id) {
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// FuzzMemProfSection reads arbitrary bytes as a section. Without an error, the records must be
// those of the naive decoder, and writing and reading them again must change nothing.
func FuzzMemProfSection(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 4<<10 {
			requireLikeNaive(t, data)
		}
	})
}

// requireLikeNaive reads a section with each method. If none returns an error, the records must be
// those of the naive decoder, and writing and reading them again must change nothing.
func requireLikeNaive(t *testing.T, data []byte) {
	t.Helper()
	r, err := memprof.OpenBytes(data, fuzzOffset, memprof.MaxFrames(10_000))
	if err != nil {
		isFault(t, err, data)
		return
	}
	var text bytes.Buffer
	if err := memprof.WriteYAML(&text, r); err != nil {
		if !isFault(t, err, data) {
			return
		}
	}
	_, err = r.DataAccess()
	isFault(t, err, data)
	var p memprof.Profile
	if err := p.Merge(r, 1); err != nil {
		isFault(t, err, data)
		return
	}
	if !sound(t, r, data) {
		return
	}
	require.Equal(t, naive(data, fuzzOffset), plain(t, r))
	for version := 2; version <= 4; version++ {
		section, err := p.Section(version, 8)
		if err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			continue
		}
		again, err := memprof.OpenBytes(section, 8)
		require.NoError(t, err)
		require.Equal(t, plain(t, &p), plain(t, again))
	}
}

// wordEdits changes words of the array of call stacks and bytes of the records after it. Three
// bytes of edits describe one change: the stack of another function, a jump, or a number of frames.
func wordEdits(section, edits []byte) []byte {
	le := binary.LittleEndian
	data := bytes.Clone(section)
	stacks := int(le.Uint64(data[8:])) - fuzzOffset
	records := int(le.Uint64(data[16:])) - fuzzOffset
	end := int(le.Uint64(data[24:])) - fuzzOffset
	words := (records - stacks) / 4
	for ; len(edits) >= 3 && words > 0; edits = edits[3:] {
		at := data[stacks+4*(int(edits[0])%words):]
		switch v := edits[2]; edits[1] % 5 {
		case 0:
			le.PutUint32(at, uint32(v))
		case 1:
			le.PutUint32(at, -uint32(v))
		case 2:
			le.PutUint32(at, le.Uint32(at)+uint32(int8(v)))
		case 3:
			le.PutUint32(at, le.Uint32(data[stacks+4*(int(v)%words):]))
		case 4:
			data[records+(int(edits[0])|int(edits[1])<<8)%(end-records)] = v
		}
	}
	return data
}

// FuzzStackWords changes which words call stacks share and where they jump to. The stacks must be
// those of the naive decoder, or reading must fail.
func FuzzStackWords(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	var sections [][]byte
	for version := 3; version <= 4; version++ {
		for _, functions := range []int{1, 4, 12} {
			sections = append(sections, sectionOf(f, randomProfile(rng, functions, memprof.DefaultSchema()), version))
		}
	}
	for i := range sections {
		f.Add(byte(i), []byte{})
		f.Add(byte(i), []byte{2, 1, 3, 7, 2, 255, 5, 0, 9, 1, 3, 8})
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		requireLikeNaive(t, wordEdits(sections[int(which)%len(sections)], edits))
	})
}

// FuzzMemProfYAML reads arbitrary YAML. Reading the output of WriteYAML again must return the same
// profile.
func FuzzMemProfYAML(f *testing.F) {
	f.Add(smallText)
	f.Add("---\n{}\n...\n")
	f.Add("HeapProfileRecords: [{GUID: 0x1, CallSites: [{Frames: []}]}]")
	for _, s := range samples(f) {
		r, err := memprof.OpenBytes(s, fuzzOffset)
		require.NoError(f, err)
		f.Add(yaml(f, r))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := memprof.ParseYAML(strings.NewReader(text))
		if err != nil {
			isFault(t, err, []byte(text))
			return
		}
		var once bytes.Buffer
		if err := memprof.WriteYAML(&once, p); err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			return
		}
		again, err := memprof.ParseYAML(bytes.NewReader(once.Bytes()))
		require.NoError(t, err, once.String())
		require.Equal(t, once.String(), yaml(t, again))
	})
}

// FuzzMemProfDump reads arbitrary bytes as a raw profile. If they can be opened, Raw.Profile must
// return a profile or an error, whatever addresses the symbolizer knows.
func FuzzMemProfDump(f *testing.F) {
	for version := uint64(3); version <= 5; version++ {
		f.Add(rawFile(version))
		f.Add(append(rawFile(version), rawFile(version)...))
	}
	f.Add(gen.RawMemory(3, 4, 2, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := memprof.OpenRawBytes(data)
		if err != nil {
			isFault(t, err, data)
			return
		}
		for _, b := range r.Blocks() {
			for range r.Addresses(b.Stack) {
			}
		}
		p, _, err := r.Profile(everything{1, 2, 3, 4})
		if err != nil {
			return
		}
		_ = yaml(t, p)
	})
}

// An everything is a Symbolizer that knows a function at each address.
type everything []byte

func (id everything) BuildID() []byte { return id }

func (id everything) Locate(addresses []uint64, each func(uint64, []memprof.Location) error) error {
	for _, a := range addresses {
		if err := each(a, []memprof.Location{{Function: "f", Line: uint32(a)}}); err != nil {
			return err
		}
	}
	return nil
}
