// Package afdo reads GCOV AutoFDO profiles of version 4, one translation unit at a time, and lays
// out files of that version.
//
// An AutoFDO profile tells a compiler how often each line of a program ran, which functions its
// calls reached and what had been inlined where. A version 4 file stores that by source file, so
// that whoever compiles one reads what belongs to it and nothing else. "RFC" in these docs is the
// proposal of that version, and "format note" one of this project's decisions on what it leaves
// open; both are in docs/format.md of the repository.
//
// # Reading
//
// [Open], [OpenBytes] and [NewReader] return a [Reader]. [Reader.Unit] and [Reader.UnitBySuffix]
// find a [Unit], the source file; [Unit.Symbol] and [Unit.Symbols] find its functions;
// [Symbol.Info] has the samples of one, and a [Cursor] steps through them. The package example does
// all of it.
//
// Each step reads what it needs and no more, at most once for a Reader or a Unit: the header and
// the section table when the file is opened, the list of units with the first lookup, the names of
// a unit with its first symbol, the samples of a function when they are asked for. [Unit.Load]
// fetches all of a unit in one go. A Cursor that is reused allocates nothing once it is warm.
//
// # The rest
//
// Questions about the whole program, such as where a symbol is defined or into which functions one
// was inlined, are package index's, and so is the index that a file may end in (docs/extensions.md
// of the repository). Of that this package uses the checksums of sections, which are compared when
// a section is first read, and with [TrustIndex] where units and sections are. Package check finds
// everything that is wrong with a file.
//
// # Lifetime
//
// From Open and NewReader every section is copied once, into memory that Go owns. So whatever was
// handed out, names, [Info] values and cursors, stays valid after [Reader.Close], and a mapped file
// that shrinks gives an error and not a fault. OpenBytes copies nothing: names are made new, but
// Infos and cursors refer to the caller's bytes, which must not change or go away before them.
//
// # Concurrency
//
// All methods of Reader and Unit may be called from many goroutines. Close waits for none of them;
// a call that comes after it returns [ErrClosed], and one that is under way may. [Symbol],
// [Section] and [Info] are values. A Cursor is for one goroutine; any number of them may walk one
// Info.
//
// # Errors
//
// Lookups of what is not there return [ErrNotFound]. A file that breaks the format gives a
// [FormatError], with the section and the byte offset; it matches [ErrMalformed] and one of the
// classes beside it under errors.Is. No input makes this package panic, loop or recurse without
// bound, or allocate by a number that the rest of the file does not back; [MaxNameBytes] bounds
// what a string table may unfold to. What is read lazily is checked lazily: Open vouches for the
// section table and a lookup for what it has passed.
//
// # Writing
//
// [Writer] puts sections into a file. Whole profiles are written by package builder, from the model
// of package profile.
package afdo
