// Package afdo reads GCOV AutoFDO profiles of version 4, one translation unit at a time, and writes
// files of that version from ready-made sections.
//
// An AutoFDO profile records how often each line of a program ran, which functions each call
// reached, and what was inlined where. Version 4 groups this by source file, so that a compile
// reads only the part for its own sources. "RFC" is the proposal of the format. A "format note" is
// a decision of this project where the RFC is silent or unclear. Both are in
// docs/reference/format.md of the repository.
//
// # Reading
//
// [Open], [OpenBytes] and [NewReader] return a [Reader]. [Reader.Unit] and [Reader.UnitBySuffix]
// find a [Unit], which is a source file. [Unit.Symbol] and [Unit.Symbols] find its functions.
// [Symbol.Info] returns the samples of a function, and a [Cursor] walks them. See the package
// example.
//
// Each step reads only what it needs, at most once per Reader or Unit:
//   - opening reads the header and the section table;
//   - the first lookup reads the list of units;
//   - the first symbol of a unit reads the names of that unit;
//   - Info reads the samples of one function.
//
// [Unit.Load] reads all of a unit at once.
//
// [Open] reads version 4 only. Today's compilers read versions 2 and 3. Package anyprof recognises
// and opens all versions, text, and LLVM's profiles. Its examples convert older versions to version
// 4 and add up whole profiles.
//
// Package index answers questions about the whole program, package check reports every problem in a
// file, and package builder writes whole profiles from the model in package profile.
//
// # Lifetime
//
// A Reader from Open or NewReader copies all data that it reads into Go memory. Names, [Info]
// values and cursors stay valid after [Reader.Close]. A Reader from OpenBytes copies only names.
// Its Infos and cursors refer to the caller's bytes, which must not change while they are in use.
//
// # Concurrency
//
// All methods of Reader and Unit may be called concurrently. Close does not wait for other calls: a
// call that runs during Close returns its result or [ErrClosed]. [Symbol], [Section] and [Info]
// values may be shared. A Cursor is for one goroutine; several Cursors may walk the same Info.
//
// # Errors
//
// Lookups return [ErrNotFound] if there is no such item. A file that violates the format gives a
// *[FormatError]. No input makes this package panic, loop or recurse without bound, or allocate
// memory for a count that exceeds what the rest of the file can hold. Data is checked when it is
// read: Open checks the section table, and a lookup checks what it reads.
package afdo
