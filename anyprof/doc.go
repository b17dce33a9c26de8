// Package anyprof opens a profile of any format that this module reads, and hands out its source
// files, functions and records through one interface.
//
// [Open] tells the format by how the file begins. It may be a GCOV profile of version 2, 3 or 4 or
// its text, one of LLVM's sample profiles, instrumentation profiles or memory profiles, and any of
// them compressed with gzip or zstd.
//
//	p, err := anyprof.Open(ctx, "prog.afdo")
//	if err != nil { … }
//	defer p.Close()
//	for f, err := range p.Functions(ctx) {
//		if err != nil { … }
//		for r, err := range f.Records() { … }
//	}
//
// What the formats have in common is here. What only one of them has, such as the summary, the
// fields of an allocation or a bitmap, is in its own package, whose reader [Profile.Model] returns.
//
// # Cost
//
// Of a file that its package reads lazily, [Open] reads the header. These are GCOV version 4,
// ExtBinary, indexed instrumentation and memory profiles, unless they are compressed. Any other
// file is read whole. [Profile.Lookup] looks up many functions in one call, at the same time if the
// file is read through an io.ReaderAt, so that a file on a server is not asked for one after
// another.
//
// # Cancellation
//
// A call that takes a context.Context ends with the context's error soon after that is done: at the
// next read of a file that is read whole, or at the next function.
//
// # Concurrency
//
// The methods of a [Profile] may be called from many goroutines. Close waits for none of them.
package anyprof
