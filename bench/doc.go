// Package bench measures what it costs to read and write profiles, of the size
// of a compiler's bootstrap down to that of one library, and what a compiler pays for one.
//
//	go -C bench test -run '^$' -bench . -benchtime 100ms
//
// runs everything that the machine has the tools for. run.sh writes the results and the tables of
// README.md and docs/performance.md.
//
// Benchmarks are called by what they vary: corpus=, mode=normal or compact, source=mmap, bytes or
// readerat, and op=. Besides Go's own figures they report
//
//   - cpu-ns/op: user and system time of the process, or of the child process
//     that is measured. It bears a busy machine better than the time on the clock.
//   - x-of-xxhash: how many times as long it took as xxhash64 takes over the same
//     bytes, those that the operation reads from the file: what reading every byte once costs.
//   - file-B/op, reads/op: bytes that the operation reads from the file, and in how many reads.
//   - peak-B: the most memory that a child process took.
//
// The profiles come from package synth. Real ones are measured besides if AFDO_CORPUS names a
// folder with libgui.v3, libart_arm.v3 and keystore2.v3, see docs/size.md.
package bench
