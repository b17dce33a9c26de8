package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// BenchmarkStandAlone compares two forms of a profile on a server for lookups of units, for
// docs/measured/size.md: one indexed file, and a compressed file for each unit. The second form
// begins with a directory, which has the paths and sizes of the units, compressed, and a dictionary
// of some KiB. One request fetches the directory, and one the unit. The figures of slices are from
// 40 units, scaled up to all units.
func BenchmarkStandAlone(b *testing.B) {
	for _, name := range []string{"android", "libgui", "libart_arm", "keystore2"} {
		b.Run(name, func(t *testing.B) {
			p := synth.Profile(synth.Android)
			if name != "android" {
				var err error
				p, err = gcov.ParseBytes(testenv.CorpusData(t, name+".v3"))
				require.NoError(t, err)
			}
			reportToday(t, p)
			var paths []string
			var units [][]byte
			for ref, unit := range p.Split() {
				paths, units = append(paths, p.UnitPath(ref)), append(units, compactFile(t, unit))
			}
			directory := directoryBytes(paths)
			for _, size := range []int{0, 16 << 10, 64 << 10} {
				reportPacked(t, fmt.Sprintf("units, %d KiB", size>>10), units, len(units), directory, trained(t, units, size))
			}
			whole := slice.FromProfile(p)
			for compiler, target := range map[string]slice.Target{"GCC 12": slice.Version2, "GCC 16": slice.Version3} {
				var some [][]byte
				for i := range 40 {
					s, err := whole.Select(slice.Request{Target: target, Units: []string{paths[i*len(paths)/40]}})
					require.NoError(t, err)
					some = append(some, compactFile(t, s))
				}
				for _, size := range []int{0, 64 << 10} {
					reportPacked(t, fmt.Sprintf("slices for %s, %d KiB", compiler, size>>10), some, len(units), directory, trained(t, units, size))
				}
			}
		})
	}
}

// reportToday reports the requests and bytes of lookups of 60 units in an indexed file.
func reportToday(t testing.TB, p *profile.Profile) {
	data := indexedData(t, p)
	for form, data := range map[string][]byte{"v4c with an index": data, "the same, .zst": compress(t, data)} {
		f := serveFile(t, data)
		var requests, fetched []int64
		for i := range 60 {
			n, b := f.run(t, "lookup", "FILE", "--unit", p.UnitPath(profile.UnitRef(i*p.NumUnits()/60)))
			requests, fetched = append(requests, n), append(fetched, b)
		}
		t.Logf("%s: %d bytes; requests %s; bytes %s", form, len(data), distribution(requests), distribution(fetched))
	}
}

// reportPacked reports the sizes of units that are compressed one by one. files are those of some
// units, and all is the number of all units.
func reportPacked(t testing.TB, form string, files [][]byte, all, directory int, dictionary []byte) {
	encoder, decoder := codecs(t, dictionary)
	var sizes []int64
	total := int64(0)
	for _, file := range files {
		packed := encoder.EncodeAll(file, nil)
		unpacked, err := decoder.DecodeAll(packed, nil)
		require.NoError(t, err)
		require.True(t, bytes.Equal(file, unpacked))
		sizes, total = append(sizes, int64(len(packed))), total+int64(len(packed))
	}
	first := int64(directory + len(dictionary))
	t.Logf("%s: %d bytes; directory %d; bytes of a unit %s", form, total*int64(all)/int64(len(files))+first, first, distribution(sizes))
}

func codecs(t testing.TB, dictionary []byte) (*zstd.Encoder, *zstd.Decoder) {
	writing, reading := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBestCompression)}, []zstd.DOption{}
	if dictionary != nil {
		writing, reading = append(writing, zstd.WithEncoderDict(dictionary)), append(reading, zstd.WithDecoderDicts(dictionary))
	}
	encoder, err := zstd.NewWriter(nil, writing...)
	require.NoError(t, err)
	decoder, err := zstd.NewReader(nil, reading...)
	require.NoError(t, err)
	t.Cleanup(decoder.Close)
	return encoder, decoder
}

// trained returns a dictionary that zstd makes of files, or nil if its size is 0.
func trained(t testing.TB, files [][]byte, size int) []byte {
	if size == 0 {
		return nil
	}
	dir := t.TempDir()
	for i, file := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), file, 0o600))
	}
	out, err := exec.Command(testenv.Tool(t, "zstd"), "-q", "--train", "-r", dir, "--maxdict", fmt.Sprint(size), "-o", dir+"/dictionary").CombinedOutput()
	require.NoError(t, err, "%s", out)
	d, err := os.ReadFile(dir + "/dictionary")
	require.NoError(t, err)
	return d
}

// directoryBytes returns the size of the compressed directory: the paths and sizes of the units.
func directoryBytes(paths []string) int {
	var table []byte
	for i, path := range paths {
		table = binary.LittleEndian.AppendUint32(append(append(table, path...), 0), uint32(i*7919%30_000))
	}
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	return len(encoder.EncodeAll(table, nil))
}

// compactFile encodes a profile without an index.
func compactFile(t testing.TB, p *profile.Profile) []byte {
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Compact: true}))
	return file.Bytes()
}

// distribution returns the median, the 90th percentile and the maximum.
func distribution(values []int64) string {
	slices.Sort(values)
	n := len(values)
	return fmt.Sprintf("%d / %d / %d", values[n/2], values[n*9/10], values[n-1])
}
