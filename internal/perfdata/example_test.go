package perfdata_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// The text of perf script gives the same records as perf.data.
func ExampleScriptReader() {
	const text = `PERF_RECORD_MMAP2 7/7: [0x5000(0x1000) @ 0x2000 fe:00 1 2]: r-xp /usr/bin/prog
            5010 0x5020/0x5000/P/-/-/3  0x5008/0x5014/M/-/-/1
`
	for record, err := range perfdata.NewScriptReader(strings.NewReader(text)).Records() {
		if err != nil {
			log.Fatal(err)
		}
		switch r := record.(type) {
		case *perfdata.Mmap:
			fmt.Printf("%#x is offset %#x of %s\n", r.Start, r.PageOffset, r.Path)
		case *perfdata.Sample:
			fmt.Printf("at %#x", r.IP)
			for _, b := range r.Branches {
				fmt.Printf(", after %#x->%#x", b.From, b.To)
			}
			fmt.Println()
		}
	}
	// Output:
	// 0x5000 is offset 0x2000 of /usr/bin/prog
	// at 0x5010, after 0x5020->0x5000, after 0x5008->0x5014
}
