package perfdata

import (
	"cmp"
	"container/heap"
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

// openParts opens the files with the samples. They contain only records, without a header.
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

// A merge combines the records of several files. It always takes the oldest of the files' next
// records. Each file comes from one processor, and its records are almost in order, so the result
// is almost in order, too. These files have no marks for rounds.
type merge struct {
	begun bool
	heap  byTime // the files that have a next record
}

// next returns the next record of all feeds, or io.EOF at the end. It is valid until the next call.
func (m *merge) next(feeds []*feed) (rawRecord, error) {
	if err := m.advance(feeds); err != nil {
		return rawRecord{}, err
	}
	if len(m.heap) == 0 {
		return rawRecord{}, io.EOF
	}
	return m.heap[0].ahead, nil
}

// advance replaces the record that was returned last by the next one of its file. The first call
// reads the first record of each file.
func (m *merge) advance(feeds []*feed) error {
	if !m.begun {
		m.begun = true
		for _, f := range feeds {
			if more, err := f.advance(); err != nil {
				return f.named(err)
			} else if more {
				m.heap = append(m.heap, f)
			}
		}
		heap.Init(&m.heap)
		return nil
	}
	if len(m.heap) == 0 {
		return nil
	}
	more, err := m.heap[0].advance()
	switch {
	case err != nil:
		return m.heap[0].named(err)
	case more:
		heap.Fix(&m.heap, 0)
	default:
		heap.Pop(&m.heap)
	}
	return nil
}

// advance reads the next record into ahead. It returns false at the end.
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

// byTime is a heap of files, ordered by the time of their next record. Records without a time come
// first, those of the first file before others: that file contains the mappings from before the
// recording.
type byTime []*feed

func (h byTime) Len() int      { return len(h) }
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h byTime) Less(i, j int) bool {
	return h[i].time < h[j].time || h[i].time == h[j].time && h[i].index < h[j].index
}
func (h *byTime) Push(f any) { *h = append(*h, f.(*feed)) }
func (h *byTime) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	*h = (*h)[:last]
	return f
}
