package perfdata

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
)

// Layouts of the folder that contains a file, as stored in its header. perf record --kcore creates
// the first layout, perf record --threads the second.
const (
	layoutOneFile = 0 // the file, or the file "data" of a folder, contains all records
	layoutParts   = 1 // the files "data.0", "data.1" and so on contain the samples; "data" contains the records before them
)

const folderMain = "data"

// maxParts is the maximum number of files in a folder. There is one per processor.
const maxParts = 1 << 13

// OpenFolder opens a recording that is a folder, as created by perf record --threads: the file
// "data", and a file for each processor, "data.0" and so on. Use os.DirFS to open a folder on disk.
// All files stay open until [Reader.Close].
//
// Errors are those of the file system, and afdo.FormatError.
func OpenFolder(dir fs.FS) (*Reader, error) {
	r := &Reader{intern: make(map[string]string)}
	if err := r.unlessChanged(r.openFolder(dir)); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) openFolder(dir fs.FS) error {
	main, err := r.openIn(dir, folderMain)
	if errors.Is(err, fs.ErrNotExist) {
		return faultAt(0, fault.ErrHeader, `the folder is no recording: it has no file "data"`)
	}
	if err != nil {
		return err
	}
	if err := r.open(main); err != nil {
		return inFile(err, folderMain)
	}
	r.feeds[0].name = folderMain
	switch r.layout {
	case layoutOneFile:
		return nil
	case layoutParts:
		return r.openParts(dir)
	}
	return inFile(faultAt(0, fault.ErrHeader, "a folder of layout %d; 0 and 1 are known", r.layout), folderMain)
}

func (r *Reader) openIn(dir fs.FS, name string) (fs.File, error) {
	file, err := dir.Open(name)
	if err == nil {
		r.closes = append(r.closes, file)
		r.watches = append(r.watches, files.Watching(file))
	}
	return file, err
}

// openParts opens those files of the folder that contain the samples, one for each processor. These
// files have no header.
func (r *Reader) openParts(dir fs.FS) error {
	names, err := partNames(dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return faultAt(0, fault.ErrTruncated, "the folder has no files data.0, data.1 and so on, which have the samples")
	}
	if len(names) > maxParts {
		return faultAt(0, fault.ErrLimit, "a folder of more than %d files", maxParts)
	}
	for _, name := range names {
		file, err := r.openIn(dir, name)
		if err != nil {
			return err
		}
		info, err := file.Stat()
		if err != nil {
			return err
		}
		r.addFeed(name, newStream(file, 0, partBuffer), uint64(info.Size()))
	}
	return nil
}

// partNames returns the names of the files with the samples, ordered by number.
func partNames(dir fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), folderMain+".")
		if _, err := strconv.ParseUint(number, 10, 32); ok && err == nil && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return names, nil
}

// readLayout reads the layout of the folder from the header.
func (r *Reader) readLayout(f recordingFile, h fileHeader) error {
	const what = "the layout of the folder"
	p, found, err := f.feature(h, featureDirFormat, what)
	if !found {
		return err
	}
	b, err := f.read(part{p.offset, 8}, what)
	c := newCursor(b, r.big)
	r.layout = c.Uint64(field)
	return err
}

// named adds the name of the feed's file to an error.
func (f *feed) named(err error) error {
	if f.name == "" {
		return err
	}
	return inFile(err, f.name)
}

func inFile(err error, name string) error {
	if e, ok := err.(*fault.FormatError); ok {
		e.File = name
	}
	return err
}

// A merge combines the records of several files, each of which has the records of one processor. It
// always returns the oldest of the files' next records. The records of one file are almost in the
// order of their times, and so is the result. In such files no records mark that all buffers have
// been read.
type merge struct {
	taken []*feed // the files whose next record has to be read
	ahead []*feed // the files that have a next record, in the order of these records
}

// next returns the oldest of the next records of all files, or io.EOF at the end. The record is
// valid until the next call.
func (m *merge) next() (rawRecord, error) {
	for _, f := range m.taken {
		more, err := f.advance()
		if err != nil {
			return rawRecord{}, f.named(err)
		}
		if more {
			at, _ := slices.BinarySearchFunc(m.ahead, f, (*feed).compare)
			m.ahead = slices.Insert(m.ahead, at, f)
		}
	}
	if m.taken = nil; len(m.ahead) == 0 {
		return rawRecord{}, io.EOF
	}
	m.taken, m.ahead = m.ahead[:1], m.ahead[1:]
	return m.taken[0].ahead, nil
}

// compare orders the files of a recording for a merge by the time of their next record. Records
// without a time come first. For equal times, the files keep their order, because the first file
// contains the mappings from before the recording.
func (f *feed) compare(other *feed) int {
	return cmp.Or(cmp.Compare(f.time, other.time), cmp.Compare(f.index, other.index))
}

// advance reads the next record of the file into f.ahead, for the merge of several files. It
// returns false at the end of the file.
func (f *feed) advance() (bool, error) {
	raw, err := f.next()
	for err == nil && raw.kind == typeFinishedRound {
		raw, err = f.next() // a round of one file means nothing for the others
	}
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f.ahead, f.time = raw, f.r.timeOf(raw)
	if f.time == math.MaxUint64 {
		f.time = 0
	}
	return true, nil
}
