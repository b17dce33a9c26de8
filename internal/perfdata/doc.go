// Package perfdata reads the output of Linux's perf record:
//   - perf.data in file mode and pipe mode, in either byte order, compressed or not;
//   - folders written by perf record --threads;
//   - the text that perf script prints.
//
// It also writes perf.data with one event, in both modes.
//
// A [Reader] yields records one by one: samples, with branch stacks if there are any, and the
// records that describe which files each process had mapped. It reads sequentially, through a
// buffer of fixed size. A [ScriptReader] yields the same records from text.
//
//	r, err := perfdata.NewReader(file)
//	for record, err := range r.Ordered() {
//		if err != nil { ... }
//		switch record := record.(type) {
//		case *perfdata.Sample: // record.IP, record.Branches
//		case *perfdata.Mmap: // record.Path
//		}
//	}
//
// A [Writer] writes records, most of them copied as received from the kernel. A [Head] writes the
// header and the features of a recording.
//
// Sources: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h
// of Linux.
package perfdata
