// Package bench measures the cost of reading and writing profiles, from that of a single library to
// that of a compiler's bootstrap, and the cost of a profile for a compile.
//
//	go -C bench test -run '^$' -bench . -benchtime 100ms
//
// runs all benchmarks for which the machine has the tools. run.sh writes the results and the tables
// in README.md and docs/measured/performance.md.
//
// The names of benchmarks contain their parameters: corpus=, mode=normal or compact, source=mmap,
// bytes or readerat, and op=. In addition to Go's own figures they report
//
//   - cpu-ns/op: user and system time of the process or, if a child process is measured, of the
//     child. It varies less than wall-clock time on a busy machine.
//   - x-of-xxhash: the time as a multiple of that of xxhash64 for the bytes that the operation
//     reads from the file, which is the cost of reading every byte once.
//   - file-B/op, reads/op: number of bytes and number of reads from the file.
//   - peak-B: peak memory of a child process.
//
// The profiles come from package synth. If AFDO_CORPUS names a folder with libgui.v3, libart_arm.v3
// and keystore2.v3, these real profiles are measured as well, see docs/measured/size.md.
package bench
