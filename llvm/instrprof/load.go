package instrprof

import (
	"bytes"
	"io"
	"os"
)

// Load reads a profile of any form into memory.
func Load(path string) (*Profile, error) {
	p := &Profile{}
	return p, p.AddFile(path, 1, nil)
}

// AddFile adds a file of any form. See [Profile.AddIndexed].
func (p *Profile) AddFile(path string, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).file(path, &fileCache{})
}

// AddStream adds what r holds, in any form. See [Profile.AddIndexed]. Indexed and raw files are
// read into memory.
func (p *Profile) AddStream(r io.Reader, weight uint64, mismatch func(error)) error {
	return (&adder{p: p, weight: weight, mismatch: mismatch}).reader(r, &fileCache{})
}

// A fileCache is what one goroutine keeps between files: the memory of those that are read whole,
// and the names of raw ones.
type fileCache struct {
	whole []byte
	names nameCache
}

// file adds a file of any form.
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

// reader adds what r holds, in any form.
func (a *adder) reader(r io.Reader, cache *fileCache) error {
	head, err := readHead(r)
	if err != nil {
		return err
	}
	return a.stream(head, r, cache)
}

// stream adds a file of any form that begins with head and goes on with rest.
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
