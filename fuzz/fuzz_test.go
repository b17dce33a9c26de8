package fuzz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
)

// A codec writes a profile in one format and reads it back.
type codec struct {
	name  string
	read  func(data []byte) (*profile.Profile, error)
	write func(p *profile.Profile) (data []byte, lossless bool, err error)
	// refusals are the errors with which the format may reject a profile, because it cannot hold
	// all of it.
	refusals []error
}

var codecs = []codec{
	v4("v4", builder.Options{}), v4("v4c", builder.Options{Compact: true}),
	v4("v4 with an index", builder.Options{Index: &index.Options{}}),
	{"text", readText, writeText, []error{afdo.ErrUnrepresentable}},
	old("v3", 3, binary.LittleEndian), old("v3 big-endian", 3, binary.BigEndian),
	old("v2", 2, binary.LittleEndian), old("v2 big-endian", 2, binary.BigEndian),
}

func v4(name string, o builder.Options) codec {
	write := func(p *profile.Profile) ([]byte, bool, error) {
		var file bytes.Buffer
		err := builder.Write(&file, p, o)
		return file.Bytes(), true, err
	}
	return codec{name, readV4, write, []error{afdo.ErrUnrepresentable}}
}

func old(name string, version uint32, order binary.ByteOrder) codec {
	write := func(p *profile.Profile) ([]byte, bool, error) {
		var file bytes.Buffer
		losses, err := gcov.Write(&file, p, gcov.WriteOptions{Version: version, ByteOrder: order})
		return file.Bytes(), losses == gcov.Losses{}, err
	}
	return codec{name, gcov.ParseBytes, write, []error{afdo.ErrUnrepresentable}}
}

func readV4(data []byte) (*profile.Profile, error) {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return nil, err
	}
	return profile.Read(r)
}

func readText(data []byte) (*profile.Profile, error) { return textfmt.Parse(bytes.NewReader(data)) }

func writeText(p *profile.Profile) ([]byte, bool, error) {
	var text bytes.Buffer
	err := textfmt.PrintProfile(&text, p)
	return text.Bytes(), true, err
}

// readAny reads a profile of any format, which it recognises by the first bytes.
func readAny(data []byte) (*profile.Profile, error) {
	switch string(data[:min(len(data), 4)]) {
	case "gcov":
		return readV4(data)
	case "adcg", "gcda":
		return gcov.ParseBytes(data)
	}
	return readText(data)
}

func addSeeds(f *testing.F) {
	for _, pattern := range []string{"*.afdo", "*.txt", "corrupt/*"} {
		paths, _ := filepath.Glob(filepath.Join("..", "testdata", pattern))
		for _, path := range paths {
			if data, err := os.ReadFile(path); err == nil {
				f.Add(data)
			}
		}
	}
}

// A profile of any format is written in each other format and read back with the same meaning and
// summary, unless the format rejects it. Writing it again gives the same bytes. A version 4 file
// that was written has no faults.
func FuzzConvertRoundTrip(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readAny(data)
		if err != nil {
			if p != nil {
				t.Fatalf("a profile besides the error %v", err)
			}
			return
		}
		for _, c := range codecs {
			c.roundTrip(t, p)
		}
	})
}

func (c *codec) roundTrip(t *testing.T, p *profile.Profile) {
	file, lossless, err := c.write(p)
	if err != nil {
		for _, refusal := range c.refusals {
			if errors.Is(err, refusal) {
				return
			}
		}
		t.Fatalf("%s: %v", c.name, err)
	}
	back, err := c.read(file)
	if err != nil {
		t.Fatalf("%s cannot read what it wrote: %v", c.name, err)
	}
	if lossless {
		if err := profile.Compare(p, back); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want := p.Summary
		if want == nil {
			want = p.Summarize()
		}
		if back.Summary != nil && !reflect.DeepEqual(want, back.Summary) {
			t.Fatalf("%s: summary %+v, want %+v", c.name, *back.Summary, *want)
		}
	}
	again, lossless, err := c.write(back)
	if err != nil || !lossless {
		t.Fatalf("%s cannot write what it read, or not all of it: %v", c.name, err)
	}
	if !bytes.Equal(file, again) {
		t.Fatalf("%s writes %d bytes, and %d others of what it reads back", c.name, len(file), len(again))
	}
	if bytes.HasPrefix(file, []byte("gcov")) {
		checkAccepts(t, file)
	}
}

func checkAccepts(t *testing.T, file []byte) {
	for p := range check.V4(file, check.Options{}) {
		if !p.Remark || !errors.Is(p.Err, afdo.ErrSummary) {
			t.Fatalf("a check refuses what was written: %v", p.Err)
		}
	}
}
