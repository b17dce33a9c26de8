// Package textfmt reads and writes the text form of a profile (RFC 5).
//
// [Parse] reads a text into the model of package profile, and [PrintProfile] writes the model.
// [Print], [PrintUnit] and [PrintSymbol] write a version 4 file, or the part for a unit or symbol,
// without loading the whole file. The output is always a complete text.
//
// The text names a symbol in a header, either at top level or where the symbol is inlined. A symbol
// that is only called would have no header. It is written as a symbol with an empty body, which
// reads back as a symbol without samples (format notes 12 and 21). Symbol IDs in a text are labels
// and need not be contiguous in a unit (format note 20).
//
// Names need not be valid UTF-8 and are written unchanged. Quoted strings have no escapes, so a
// name with a double quote cannot be printed (afdo.ErrUnrepresentable).
//
// Lines are indented by two blanks per level, down to 64 nested bodies. Deeper bodies are not
// indented, so that the size of a text is proportional to that of its profile.
package textfmt
