// Package anyprof opens a profile of any format that this module reads. It gives access to its
// source files, functions and records through one interface.
//
// [Open] detects the format from the first bytes of the file: GCOV version 2, 3 or 4 or its text
// form, or one of LLVM's sample, instrumentation or memory profiles. Each may be compressed with
// gzip or zstd.
//
//	p, err := anyprof.Open(ctx, "prog.afdo")
//	if err != nil { … }
//	defer p.Close()
//	for f, err := range p.Functions(ctx) {
//		if err != nil { … }
//		for r, err := range f.Records() { … }
//	}
//
// This package provides what the formats have in common. For the features of a single format, such
// as its summary, the fields of an allocation or a bitmap, use the reader of the format's package,
// which [Profile.Model] returns.
//
// # Cost
//
// [Open] reads only the header of files that are read lazily: GCOV version 4, ExtBinary, indexed
// instrumentation profiles and indexed memory profiles, unless they are compressed. It reads any
// other file whole. To look up a function by name without reading the others, use the reader of the
// format's package, or package index for version 4.
//
// # Cancellation
//
// A call with a context.Context returns the context's error soon after the context is done: at the
// next read of a file that is read whole, or at the next function.
//
// # Concurrency
//
// The methods of a [Profile] may be called concurrently. Close does not wait for other calls.
package anyprof
