package command

// A Reason says why a command runs as it was given.
type Reason string

// The reasons that the command line alone gives.
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

// Of these reasons, the statistics of the cache also say which source files they were for.
const (
	OldGCC     Reason = "its compiler is not GCC 12 or later"
	OldClang   Reason = "its compiler is not clang 14 or later"
	Unreadable Reason = "its sources cannot be preprocessed"
)
