package instrprof

import (
	"bytes"
	"io"
	"os"
)

// Load reads a profile in any format into memory, like [Profile.AddFile] with weight 1. It drops
// records that do not match an earlier record, see [Profile.Add].
func Load(path string) (*Profile, error) {
	p := &Profile{}
	if err := p.AddFile(path, 1, nil); err != nil {
		return nil, err
	}
	return p, nil
}

// AddFile adds a file in any format, like [Profile.AddIndexed]. It reads a raw file into memory. A
// file of no known format gives an error that matches afdo.ErrMagic.
func (p *Profile) AddFile(path string, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).file(path, &fileCache{})
}

// AddStream adds a profile in any format from r, like [Profile.AddIndexed]. It reads indexed and
// raw profiles into memory.
func (p *Profile) AddStream(r io.Reader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).reader(r, &fileCache{})
}

// A fileCache holds memory that a goroutine of a merge reuses from one file to the next: a buffer
// for whole files, and the decoded names of the functions in a raw file.
type fileCache struct {
	whole []byte
	names nameCache
}

// file adds the profile in the file at path, in any format.
func (a *adder) file(path string, cache *fileCache) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := readHead(file)
	if err != nil {
		return err
	}
	if Detect(head) != FormatIndexed {
		return a.stream(head, file, cache)
	}
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return a.indexed(r)
}

// reader adds the profile that it reads from r. The profile may have any format.
func (a *adder) reader(r io.Reader, cache *fileCache) error {
	head, err := readHead(r)
	if err != nil {
		return err
	}
	return a.stream(head, r, cache)
}

// stream adds a profile that may have any format. head has the first bytes of the file, and the
// others come from rest.
func (a *adder) stream(head []byte, rest io.Reader, cache *fileCache) error {
	whole := io.MultiReader(bytes.NewReader(head), rest)
	format := Detect(head)
	if format == FormatText {
		t, err := newTextReader(whole)
		if err != nil {
			return err
		}
		return a.text(t)
	}
	if format == FormatNone {
		return faultAt(sectionHeader, 0, errMagic, "neither indexed nor raw nor text")
	}
	buf := bytes.NewBuffer(cache.whole[:0])
	if _, err := buf.ReadFrom(whole); err != nil {
		return err
	}
	cache.whole = buf.Bytes()
	if format == FormatIndexed {
		r, err := OpenBytes(cache.whole)
		if err != nil {
			return err
		}
		return a.indexed(r)
	}
	r, err := openRaw(cache.whole, &cache.names)
	if err != nil {
		return err
	}
	r.Correlate(a.p.correlation)
	return a.raw(r)
}
