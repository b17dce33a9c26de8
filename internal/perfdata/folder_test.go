package perfdata_test

import (
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const layoutParts = 1

// folder returns the files of a recording that is a folder.
func folder(f *perfgen.File) fstest.MapFS {
	files := make(fstest.MapFS)
	for name, data := range f.Folder() {
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// readFolder reads a folder to its end or to the first error.
func readFolder(t *testing.T, dir fs.FS) ([]perfdata.Record, error) {
	t.Helper()
	r, err := perfdata.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	list, err := all(r.Ordered())
	require.NoError(t, r.Close())
	return list, err
}

// spread distributes records to n files, as the processors of a machine do. The records of each
// file are in order, except for a few.
func spread(s *perfgen.Scene, records []perfdata.Record, n int) [][]any {
	parts := make([][]any, n)
	for _, r := range records {
		i := s.Random.IntN(n)
		parts[i] = append(parts[i], r)
		if last := len(parts[i]) - 1; last > 0 && s.Random.IntN(20) == 0 {
			parts[i][last], parts[i][last-1] = parts[i][last-1], parts[i][last]
		}
	}
	return parts
}

// The records of a folder are returned in the order of their times, whichever files contain them.
func TestFolder(t *testing.T) {
	for i, event := range perfgen.Layouts() {
		if !event.SampleIDAll {
			continue
		}
		scene := perfgen.NewScene(uint64(i), []perfgen.Event{event}, "/bin/ours", "/lib/other.so")
		before := &perfdata.Mmap{PID: 100, TID: 100, Start: 4096, Length: 4096, Executable: true, Path: "/bin/before"}
		inOrder := append([]perfdata.Record{before}, scene.Records(600)...)
		parts := spread(scene, inOrder[1:], 12)
		parts[3] = append(parts[3], perfgen.Trace(100_000), perfgen.Round{}, perfgen.RawRecord{Type: 200, Data: []byte("unknown ")})
		parts = append(parts, nil) // of a processor that was idle
		for _, big := range []bool{false, true} {
			for compression := range perfgen.Padded + 1 {
				if testenv.Rounds((i+int(compression))%5, 0) != 0 {
					continue
				}
				file := &perfgen.File{
					Big: big, Compression: compression, Events: []perfgen.Event{event}, Layout: layoutParts,
					BuildIDs: []perfdata.BuildID{{Path: "/bin/ours", ID: "abcdef"}}, Records: []any{before}, Parts: parts,
				}
				dir := folder(file)
				dir["data.txt"] = &fstest.MapFile{Data: []byte("something else")}
				dir["kcore_dir/kallsyms"] = &fstest.MapFile{Data: []byte("something else")}
				r, err := perfdata.OpenFolder(dir)
				require.NoError(t, err)
				require.Equal(t, file.BuildIDs, r.BuildIDs())
				got, err := all(r.Ordered())
				require.NoError(t, err)
				require.NoError(t, r.Close())
				require.Equal(t, normal(inOrder, event), normal(got, event), "big=%v,compression=%d, layout %d", big, compression, i)
			}
		}
	}
}

// A folder whose only file contains all records is read like that file.
func TestFolderOfOneFile(t *testing.T) {
	f := smallFile(false)
	f.Layout = 0
	dir := folder(&f)
	got, err := readFolder(t, dir)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.NoError(t, readAll(strings.NewReader(string(dir["data"].Data))))
}

// An error about a folder names the file with the fault.
func TestCorruptFolders(t *testing.T) {
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		class  error
		file   string
		offset int64
	}{
		"no main file":     {func(d fstest.MapFS) { delete(d, "data") }, afdo.ErrHeader, "", 0},
		"empty main file":  {func(d fstest.MapFS) { d["data"].Data = nil }, afdo.ErrTruncated, "data", 0},
		"no other file":    {func(d fstest.MapFS) { delete(d, "data.0"); delete(d, "data.1") }, afdo.ErrTruncated, "", 0},
		"record is cut":    {func(d fstest.MapFS) { d["data.1"].Data = d["data.1"].Data[:70] }, perfdata.ErrRecord, "data.1", 6},
		"header is cut":    {func(d fstest.MapFS) { d["data.1"].Data = d["data.1"].Data[:5] }, afdo.ErrTruncated, "data.1", 0},
		"record of 7":      {func(d fstest.MapFS) { put16(6, 7)(d["data.0"].Data) }, perfdata.ErrRecord, "data.0", 6},
		"sample too short": {func(d fstest.MapFS) { put64(32, 9)(d["data.1"].Data) }, afdo.ErrTruncated, "data.1", 8},
		"compressed":       {func(d fstest.MapFS) { put32(0, 81)(d["data.1"].Data) }, afdo.ErrCompressed, "data.1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := smallFile(false)
			f.Layout = layoutParts
			f.Parts = [][]any{f.Records[:1], f.Records[1:2]}
			dir := folder(&f)
			_, err := readFolder(t, dir)
			require.NoError(t, err)
			c.change(dir)
			_, err = readFolder(t, dir)
			requireFault(t, name, err, c.class, c.offset)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.file, fault.File, name)
			require.Contains(t, err.Error(), c.file)
		})
	}

	f := smallFile(false)
	f.Layout = 2
	_, err := readFolder(t, folder(&f))
	require.ErrorContains(t, err, "a folder of layout 2")

	// The main file of a folder has no samples, so it is no recording without the others.
	f.Layout = layoutParts
	f.Parts = [][]any{nil}
	requireFault(t, "main file alone", readAll(strings.NewReader(string(folder(&f)["data"].Data))), afdo.ErrHeader, 0)
}

// Close closes all files of a folder, also after an error.
func TestFolderIsClosed(t *testing.T) {
	f := smallFile(false)
	f.Layout = layoutParts
	f.Parts = [][]any{f.Records, nil, nil}
	opened := &countingFS{FS: folder(&f)}
	r, err := perfdata.OpenFolder(opened)
	require.NoError(t, err)
	require.Equal(t, 4, opened.now)
	require.NoError(t, r.Close())
	require.Zero(t, opened.now)

	f.Layout = 7
	opened = &countingFS{FS: folder(&f)}
	_, err = perfdata.OpenFolder(opened)
	require.Error(t, err)
	require.Zero(t, opened.now)
}

// A countingFS is a file system that counts its open files.
type countingFS struct {
	fs.FS
	now int
}

func (c *countingFS) Open(name string) (fs.File, error) {
	file, err := c.FS.Open(name)
	if err != nil || name == "." {
		return file, err
	}
	c.now++
	return &countedFile{file, c}, nil
}

type countedFile struct {
	fs.File
	fs *countingFS
}

func (f *countedFile) Close() error {
	f.fs.now--
	return f.File.Close()
}

// A loop over the records of a folder with many files may end before the last record.
func TestLeavingFolderEarly(t *testing.T) {
	f := smallFile(false)
	f.Layout, f.Compression = layoutParts, perfgen.Compressed
	for range 20 {
		f.Parts = append(f.Parts, f.Records)
	}
	f.Records = f.Records[:1]
	before := runtime.NumGoroutine()
	r, err := perfdata.OpenFolder(folder(&f))
	require.NoError(t, err)
	for _, err := range r.Ordered() {
		require.NoError(t, err)
		break
	}
	require.NoError(t, r.Close())
	require.LessOrEqual(t, runtime.NumGoroutine(), before+1)
}
