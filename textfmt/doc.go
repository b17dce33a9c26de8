// Package textfmt reads and writes the textual form of a profile (RFC 5).
//
// [Parse] reads a text into the in-memory model and [PrintProfile] writes the
// model. [Print], [PrintUnit] and [PrintSymbol] write a version 4 file, or what
// belongs to a unit or symbol of it, without loading it whole; what they write
// is a complete text of its own.
//
// The text names each symbol in a header, at top level or where it is inlined.
// A symbol that is only called, and so would have no header, is written as a symbol
// with an empty body, which reads back as a symbol without info (format notes
// 12 and 21). Symbol IDs in a text are labels and need not be contiguous in a
// unit (format note 20).
//
// Names need not be UTF-8 and are written unchanged. A quoted string has no escape, so a name with
// a double quote cannot be printed ([ErrQuote]).
//
// Lines are indented by two blanks a level down to 64 nested bodies. Deeper ones
// are not indented, so that the size of a text is proportional to that of its profile.
package textfmt
