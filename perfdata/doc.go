// Package perfdata reads what Linux's perf records: perf.data, in file and in pipe mode, of either
// byte order, compressed or not, the folders of perf record --threads, and the text that perf
// script prints of it. It also writes perf.data of one event, in both modes.
//
// A [Reader] yields records one by one: samples, with branch stacks if there are any, and what
// tells which files the processes had mapped. It reads front to back through a buffer of fixed
// size. A [ScriptReader] yields the same records from text.
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
// A [Writer] writes records, of which most are copied as a kernel has made them, behind or before a
// [Head].
//
// Sources: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h
// of Linux.
package perfdata
