// Package symbolize maps addresses in an ELF file to source positions. For each address it finds
// the function, the chain of inlined calls, and the file, line and discriminator of each.
//
// It reads executables, shared objects, kernels and kernel modules with DWARF 2 to 5. The debug
// info may be
//   - in the file itself or in a separate debug file, found by build ID or .gnu_debuglink;
//   - compressed with zlib or zstd;
//   - partly moved to another file by dwz;
//   - split into .dwo files or a .dwp file.
//
// An example:
//
//	f, err := symbolize.Open("prog")
//	defer f.Close()
//	s, ok, err := f.Symbol(addr)
//	for code, err := range f.Code(ctx, []symbolize.Symbol{s}) {
//		for _, span := range code.Spans {
//			for _, i := range span.Instance.Chain() { ... }
//		}
//	}
//
// The package is designed for programs with gigabytes of debug info. A query about some functions
// reads the first entry of every unit, then reads the units that contain these functions, and drops
// each unit when done. Uncompressed sections are read from the file in pieces. Large compressed
// sections are decompressed into an unnamed temporary file in TMPDIR. So memory is proportional to
// the largest of these units.
//
// # Rules
//
// The rules follow tools by compiler authors, mainly llvm-symbolizer, with which the tests compare.
//   - A function is an entry of the binary's symbol table, .symtab or else .dynsym.
//   - The row of an address is the last row at or before it in its sequence. Columns and statement
//     marks are ignored. Code with line 0 belongs to no line.
//   - The innermost instance at an address is the last entry, in the order of the unit, that covers
//     it.
//   - Ranges and sequences that begin at address 0, 1 or the largest address belong to code that
//     the linker discarded.
//   - Names and declarations come from the entry itself, or from its abstract origin or
//     specification. The line of an abstract origin overrides the entry's own; the line of a
//     specification does not.
//
// # Hostile files
//
// This package decodes everything except the ELF header and section table, and expects arbitrary
// bytes: malformed data gives an afdo.FormatError with section and offset. The headers are read
// with debug/elf, which is not hardened, so panics in it are converted to errors.
//
// A few bytes can refer to large amounts of data many times, so there are limits; beyond them the
// error is afdo.ErrLimit:
//   - a compressed section may expand to 50 times its size plus 64 MiB;
//   - the names, address ranges, tables and line rows of one query may take 16 times the size of
//     the files plus 24 MiB;
//   - the names of all symbols may take as much again.
package symbolize
