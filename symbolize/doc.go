// Package symbolize tells where the code of an ELF file comes from: for every address the function,
// the chain of calls through which the compiler has inlined it there, and file, line and
// discriminator of each.
//
// It reads executables, shared objects, kernels and kernel modules with DWARF 2 to 5: in the file
// itself or in a separate debug file, found by build ID or .gnu_debuglink; compressed with zlib or
// zstd; with the parts that dwz moved elsewhere; and split into .dwo files or a .dwp.
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
// It is made for programs with gigabytes of debug info. A question about some functions looks at
// the first entry of every unit, reads the units that hold these functions and drops each as soon
// as it is done. Uncompressed sections are read in pieces from the file; large compressed ones are
// unpacked into a temporary file without a name (in TMPDIR). So memory follows the largest of those
// units.
//
// # Rules
//
// The rules are those of the tools that compilers' authors use, foremost llvm-symbolizer, which the
// tests compare with.
//
//   - A function is an entry of the binary's symbol table, .symtab or else .dynsym.
//   - The row of an address is the last one at or before it in its sequence; columns and the
//     marks of statements play no part. Line 0 is code of no line.
//   - The innermost instance of an address is the last entry, in the order of the unit, that
//     covers it.
//   - Ranges and sequences that begin at address 0, 1 or the largest one are of code that the
//     linker has dropped.
//   - Names and declarations are those of the entry, or of where its abstract origin and its
//     specification lead. The line of the origin goes before the entry's own, that of a
//     specification after it.
//
// # Hostile files
//
// Everything but the ELF header and section table is decoded by this package, which expects any
// bytes: a fault is a afdo.FormatError with section and offset. The headers are read with
// debug/elf, which is not hardened; a panic of it is turned into an error where it is called. A
// compressed section may claim to be 50 times larger than it is, and 64 MiB more. What a question
// reads and holds that a few bytes can say many times over, such as names, address ranges, tables
// and rows of lines, may come to 16 times the size of the files, and 24 MiB more, and the names of
// all symbols to as much; afdo.ErrLimit otherwise.
package symbolize
