package command

// A Reason says why a command gets no profile.
type Reason string

// Reasons that [Parse] finds in the command line.
const (
	AsksCompiler     Reason = "it asks the compiler for information"
	OnlyPreprocesses Reason = "it only preprocesses"
	OnlyChecks       Reason = "it only checks the syntax"
	ReadsStdin       Reason = "its source is standard input or a pipe"
	CompilesNothing  Reason = "it compiles nothing"
	Trial            Reason = "it is a check of a configure step"
	Declined         Reason = "it has -fno-auto-profile"
	NoGCC            Reason = "it is not a compiler of GCC or clang"
	Instruments      Reason = "it makes a program that counts"
)

// Reasons that depend on the compiler and the sources. For these, the statistics of the cache list
// the source files.
const (
	OldGCC     Reason = "its compiler is not GCC 12 or later"
	OldClang   Reason = "its compiler is not clang 14 or later"
	Unreadable Reason = "its sources cannot be preprocessed"
)
