package perfdata_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/perfgen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// large returns a recording of some 100 MB. Each sample has a branch stack of 32 entries, as on
// Intel's processors.
func large(compression perfgen.Compression) []byte {
	event := perfgen.Event{
		SampleType: perfgen.Identifier | perfgen.IP | perfgen.TID | perfgen.Time | perfgen.Period | perfgen.BranchStack,
		BranchType: perfgen.HWIndex, SampleIDAll: true, IDs: []uint64{1},
	}
	scene := perfgen.NewScene(1, []perfgen.Event{event}, "/bin/ours", "/lib/other.so")
	var records []any
	for range 30 {
		records = append(records, scene.Disorder(scene.Records(10_000))...)
	}
	return (&perfgen.File{Events: []perfgen.Event{event}, Compression: compression, Records: records}).Bytes()
}

func BenchmarkRead(b *testing.B) {
	for name, data := range map[string][]byte{
		"generated":  large(perfgen.None),
		"compressed": large(perfgen.Compressed),
		"lbr":        testenv.CorpusData(b, "create", "lbr/test.lbr.gz"),
	} {
		for _, ordered := range []bool{false, true} {
			b.Run(fmt.Sprintf("file=%s/ordered=%v", name, ordered), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				samples := 0
				for b.Loop() {
					r, err := perfdata.NewReader(bytes.NewReader(data))
					require.NoError(b, err)
					records := r.Records()
					if ordered {
						records = r.Ordered()
					}
					samples = 0
					for record, err := range records {
						if err != nil {
							b.Fatal(err)
						}
						if _, ok := record.(*perfdata.Sample); ok {
							samples++
						}
					}
				}
				b.ReportMetric(float64(samples), "samples")
			})
		}
	}
}
