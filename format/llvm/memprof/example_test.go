package memprof_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/go-afdo/afdo/format/llvm/memprof"
)

// Example prints the memory that a function has allocated, by call stack.
func Example() {
	p, err := memprof.ParseYAML(strings.NewReader(`HeapProfileRecords:
  - GUID:            load
    AllocSites:
      - Callstack:
          - { Function: load, LineOffset: 2, Column: 10, IsInlineFrame: false }
          - { Function: main, LineOffset: 4, Column: 3, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount:      5
          TotalSize:       320
          TotalLifetime:   1200
`))
	if err != nil {
		log.Fatal(err)
	}
	names := map[uint64]string{} // a profile has GUIDs only
	for _, name := range []string{"load", "main"} {
		names[memprof.GUID(name)] = name
	}
	record, err := p.Record(memprof.GUID("load"))
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range record.Allocs {
		fmt.Println(a.Block[memprof.AllocCount], "allocations of", a.Block[memprof.TotalSize], "bytes")
		for frame, err := range p.Frames(a.Stack) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("  in", names[frame.Function], "at line", frame.LineOffset)
		}
	}
	// Output:
	// 5 allocations of 320 bytes
	//   in load at line 2
	//   in main at line 4
}
