// Package afdo reads GCOV AutoFDO profiles of version 4, one translation unit at a time, and lays
// out files of that version.
//
// An AutoFDO profile tells a compiler how often each line of a program ran, which functions its
// calls reached and what was inlined where. Version 4 stores that by source file, so that a compile
// reads only what belongs to it. "RFC" is the proposal of the format and "format note" a decision
// of this project on what the RFC leaves open; both are in docs/format.md of the repository.
//
// # Reading
//
// [Open], [OpenBytes] and [NewReader] return a [Reader]. [Reader.Unit] and [Reader.UnitBySuffix]
// find a [Unit], the source file; [Unit.Symbol] and [Unit.Symbols] find its functions;
// [Symbol.Info] has the samples of one, and a [Cursor] steps through them. See the package example.
//
// Each step reads only what it needs, at most once for a Reader or a Unit: the header and the
// section table when the file is opened, the list of units with the first lookup, the names of a
// unit with its first symbol, the samples of a function when they are asked for. [Unit.Load] reads
// all of a unit at once.
//
// [Open] reads version 4 alone. Package anyprof opens a profile of any format by its content:
// versions 2 and 3, which compilers read today, text, and LLVM's profiles. Its examples make
// version 4 of the older ones.
//
// Package index answers questions about the whole program, package check reports every fault of a
// file, and package builder writes whole profiles from the model of package profile.
//
// # Lifetime
//
// Open and NewReader copy each section once, into memory that Go owns: names, [Info] values and
// cursors stay valid after [Reader.Close]. OpenBytes copies names only: Infos and cursors refer to
// the caller's bytes, which must not change as long as they are in use.
//
// # Concurrency
//
// All methods of Reader and Unit may be called concurrently. Close does not wait for other calls:
// one that is running or comes later returns [ErrClosed] if it still has to read. [Symbol],
// [Section] and [Info] are values. A Cursor is for one goroutine; several Cursors may walk one
// Info.
//
// # Errors
//
// Lookups return [ErrNotFound] for what is not there. A file that breaks the format gives a
// [FormatError]. No input makes this package panic, loop or recurse without bound, or allocate by a
// number that the rest of the file does not back. What is read lazily is checked lazily: Open
// checks the section table, a lookup what it reads.
package afdo
