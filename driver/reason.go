package driver

// A Reason says why a command runs as it was given.
type Reason string

// The reasons.
const (
	AsksCompiler     Reason = "it asks the compiler for information"
	OnlyPreprocesses Reason = "it only preprocesses"
	OnlyChecks       Reason = "it only checks the syntax"
	ReadsStdin       Reason = "its source is standard input or a pipe"
	CompilesNothing  Reason = "it compiles no C or C++"
	Declined         Reason = "it has -fno-auto-profile"
	NoGCC            Reason = "it is no compiler of GCC"
	OldGCC           Reason = "its compiler is not GCC 12 or later"
	OwnProfile       Reason = "the compiler reads its -fauto-profile itself"
	Instruments      Reason = "it makes a program that counts"
	OldClang         Reason = "its compiler is not clang 14 or later"
	Unreadable       Reason = "its sources cannot be preprocessed"
	LTOLink          Reason = "an LTO link needs no profile"
)
