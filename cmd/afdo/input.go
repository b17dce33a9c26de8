package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// An input is a profile that a command reads. A version 4 file is read lazily;
// other formats are read whole when they are first needed.
type input struct {
	name   string // for messages
	format format
	order  string // byte order of v2 and v3: "little-endian" or "big-endian"

	stream  *countingReader // of formats other than v4, until it has been read
	file    io.Closer       // what is to be closed, or nil
	reader  *afdo.Reader    // of v4; of other formats, once reader has been called
	profile *profile.Profile
	size    int64 // of v4 and of what stream has delivered
}

// stdio stands for standard input or standard output in the place of a path.
const stdio = "-"

// withInput opens the profile of a path, calls use, and closes it. Errors
// that say nothing of a file get the input's name.
func (e *env) withInput(path string, use func(*input) error) error {
	in, err := e.openInput(path)
	if err != nil {
		return err
	}
	defer in.close()
	return in.wrap(use(in))
}

// loadProfile reads a whole profile of any format into memory.
func (e *env) loadProfile(path string) (*profile.Profile, error) {
	in, err := e.openInput(path)
	if err != nil {
		return nil, err
	}
	defer in.close()
	p, err := in.loadProfile()
	return p, in.wrap(err)
}

// openInput opens the profile of a path and recognises its format by content.
// A version 4 file is mapped; what cannot be mapped, standard input above all, is read into memory.
func (e *env) openInput(path string) (*input, error) {
	if path == stdio {
		return openStream("standard input", e.in, nil)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	in, err := openFile(path, file)
	if err != nil || in.file != file {
		file.Close()
	}
	return in, err
}

func openFile(path string, file *os.File) (*input, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return openStream(path, file, file)
	}
	head := make([]byte, len("gcov"))
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !hasMagic(head[:n], "gcov") {
		return openStream(path, file, file)
	}
	r, err := afdo.Open(path)
	in := &input{name: path, reader: r, file: r}
	if err != nil {
		return nil, in.wrap(err)
	}
	in.setReader()
	return in, nil
}

// openStream opens what can only be read from front to back.
func openStream(name string, src io.Reader, file io.Closer) (*input, error) {
	in := &input{name: name, file: file}
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(src, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, in.wrap(err)
	}
	head = head[:n]
	if in.format, err = recognise(head); err != nil {
		return nil, in.wrap(err)
	}
	in.stream = &countingReader{r: io.MultiReader(bytes.NewReader(head), src)}
	if in.format.v4() {
		err = in.readV4()
	} else if in.format.old() {
		in.order = byteOrder(head)
	}
	return in, in.wrap(err)
}

func byteOrder(head []byte) string {
	if hasMagic(head, "gcda") {
		return "big-endian"
	}
	return "little-endian"
}

// readV4 reads a version 4 file out of the stream.
func (in *input) readV4() error {
	data, err := io.ReadAll(in.stream)
	if err != nil {
		return err
	}
	if in.reader, err = afdo.OpenBytes(data); err != nil {
		return err
	}
	in.setReader()
	return nil
}

// setReader takes over what the header says.
func (in *input) setReader() {
	in.size = in.reader.Size()
	in.format = formatV4
	if in.reader.Header().Compact {
		in.format = formatV4Compact
	}
}

// loadProfile returns the whole profile in memory.
func (in *input) loadProfile() (*profile.Profile, error) {
	if in.profile != nil {
		return in.profile, nil
	}
	var err error
	switch {
	case in.format.v4():
		in.profile, err = profile.Read(in.reader)
	case in.format.old():
		in.profile, err = gcov.Read(in.stream)
	default:
		in.profile, err = textfmt.Parse(in.stream)
	}
	if in.stream != nil {
		in.size = in.stream.n
	}
	return in.profile, err
}

// openReader returns a reader of the profile. What is not a version 4 file is
// made into one, in memory.
func (in *input) openReader() (*afdo.Reader, error) {
	if in.reader != nil {
		return in.reader, nil
	}
	p, err := in.loadProfile()
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := builder.Write(&file, p, builder.Options{}); err != nil {
		return nil, err
	}
	in.profile = nil
	in.reader, err = afdo.OpenBytes(file.Bytes())
	return in.reader, err
}

func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
}

// wrap puts the name of the input before an error that names no file.
func (in *input) wrap(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var usage *usageError
	var status statusError
	if err == nil || errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &usage) || errors.As(err, &status) {
		return err
	}
	return fmt.Errorf("%s: %w", in.name, err)
}

// A countingReader counts what is read through it.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
