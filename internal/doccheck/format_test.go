package doccheck

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/textfmt"
)

const (
	formatGuide = "docs/reference/format.md"
	walkThrough = "spec/conformance/walkthrough.txt"
)

// example encodes the profile of docs/reference/format.md, which the page shows as text and byte by
// byte.
func example(t *testing.T, compact bool) []byte {
	t.Helper()
	p, err := textfmt.Parse(strings.NewReader(blocks(t, walkThrough, "text area.c")[0]))
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, builder.Write(&b, p, builder.Options{Compact: compact}))
	return b.Bytes()
}

func TestWalkThrough(t *testing.T) {
	want := annotate(example(t, false))
	got := blocks(t, walkThrough, "hex normal")
	require.Len(t, got, len(want))
	for i := range want {
		assert.Equal(t, want[i], got[i], "block %d", i)
	}
}

func TestWalkThroughCompact(t *testing.T) {
	want := strings.Join(annotate(example(t, true)), "\n")
	assert.Equal(t, want, blocks(t, walkThrough, "hex compact")[0])
}

var hexRow = regexp.MustCompile(`(?m)^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+) `)

// TestWalkThroughIsAFile joins the bytes that docs/reference/format.md shows, and reads the
// resulting file.
func TestWalkThroughIsAFile(t *testing.T) {
	for _, info := range []string{"hex normal", "hex compact"} {
		t.Run(info, func(t *testing.T) {
			var file []byte
			for _, block := range blocks(t, walkThrough, info) {
				for _, row := range hexRow.FindAllStringSubmatch(block, -1) {
					require.Equal(t, fmt.Sprintf("%04x", len(file)), row[1])
					for _, octet := range strings.Fields(row[2]) {
						b, err := strconv.ParseUint(octet, 16, 8)
						require.NoError(t, err)
						file = append(file, byte(b))
					}
				}
			}
			compact := info == "hex compact"
			assert.Equal(t, example(t, compact), file)
			assert.True(t, strings.Contains(read(t, walkThrough), strconv.Itoa(len(file))+" bytes"), "the page does not say that the file has %d bytes", len(file))

			r, err := afdo.OpenBytes(file)
			require.NoError(t, err)
			assert.Equal(t, afdo.Header{Version: 4, Compact: compact}, r.Header())
			var text bytes.Buffer
			require.NoError(t, textfmt.Print(&text, r))
			again, err := textfmt.Parse(&text)
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, builder.Write(&b, again, builder.Options{Compact: compact}))
			assert.Equal(t, file, b.Bytes())
		})
	}
}

// TestWalkThroughSections checks that the page describes each section of the file, with its index
// and type.
func TestWalkThroughSections(t *testing.T) {
	r, err := afdo.OpenBytes(example(t, false))
	require.NoError(t, err)
	titles := regexp.MustCompile(`(?m)^### Section (\d+): ([a-z ]+?)(?: of .*)?$`).FindAllStringSubmatch(read(t, walkThrough), -1)
	require.Len(t, titles, r.NumSections())
	for s, err := range r.Sections() {
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(s.Index), titles[s.Index][1])
		assert.Equal(t, s.Type.String(), titles[s.Index][2])
		assert.Contains(t, blocks(t, walkThrough, "hex normal")[1+s.Index], fmt.Sprintf("%04x  ", s.Offset))
	}
}

func TestIntegerTable(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| (\\d+) \\| `([0-9a-f ]+)` \\| `([0-9a-f ]+)` \\|$").FindAllStringSubmatch(read(t, formatGuide), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		v, err := strconv.ParseUint(row[1], 10, 32)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("% x", binary.BigEndian.AppendUint32(nil, uint32(v))), row[2])
		assert.Equal(t, fmt.Sprintf("% x", binary.AppendUvarint(nil, v)), row[3])
	}
}

func TestTextExample(t *testing.T) {
	p, err := textfmt.Parse(strings.NewReader(blocks(t, formatGuide, "text cart.cc")[0]))
	require.NoError(t, err)
	require.Len(t, p.Summary.Entries, 1)
	computed := p.Summarize()
	assert.Contains(t, computed.Entries, p.Summary.Entries[0])
	computed.Entries = p.Summary.Entries
	assert.Equal(t, p.Summary, computed)
}

var noteAnchor = regexp.MustCompile(`(?m)^<a id="note-(\d+)"></a>\*\*Note (\d+)\. `)

func TestNotesAreNumbered(t *testing.T) {
	notes := noteAnchor.FindAllStringSubmatch(read(t, formatGuide), -1)
	require.Len(t, notes, 25)
	for i, n := range notes {
		assert.Equal(t, []string{strconv.Itoa(i + 1), strconv.Itoa(i + 1)}, n[1:])
	}
}

// TestQuotedNotesExist checks that the format notes which comments in the code quote by number
// exist.
func TestQuotedNotesExist(t *testing.T) {
	quoted := regexp.MustCompile(`\bnotes? (\d+)(?:(?:, | and | to )(\d+))*`)
	number := regexp.MustCompile(`\d+`)
	guide := read(t, formatGuide)
	quotations := 0
	for _, path := range files(t, ".go") {
		for _, q := range quoted.FindAllString(read(t, path), -1) {
			for _, n := range number.FindAllString(q, -1) {
				assert.True(t, strings.Contains(guide, `<a id="note-`+n+`">`), "%s quotes %s", path, q)
				quotations++
			}
		}
	}
	assert.NotZero(t, quotations)
}
