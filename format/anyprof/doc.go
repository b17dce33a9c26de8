// Package anyprof opens a profile of any format that this module reads.
//
// [Open] detects the format from the first bytes of the file: GCOV version 2, 3 or 4 or its text
// form, or one of LLVM's sample, instrumentation or memory profiles. Each may be compressed with
// gzip or zstd.
//
//	p, err := anyprof.Open(ctx, "prog.afdo")
//	if err != nil { … }
//	defer p.Close()
//	switch model := p.Model().(type) {
//	case *sampleprof.Reader:
//		for f, err := range model.Functions() { … }
//	}
//
// [Profile.Model] returns the reader of the format's package, which has the units, functions and
// records of the profile. For the formats of GCOV, [Profile.GCOV] returns the whole profile in
// memory.
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
// next read of a file that is read whole.
//
// # Concurrency
//
// The methods of a [Profile] may be called concurrently. Close does not wait for other calls.
package anyprof
