package driver

// Why a [Launcher] runs a command as it was given, apart from what the command line says.
const (
	OldGCC     Reason = "its compiler is not GCC 12 or later"
	OwnProfile Reason = "the compiler reads its -fauto-profile itself"
	OldClang   Reason = "its compiler is not clang 14 or later"
	Unreadable Reason = "its sources cannot be preprocessed"
	LTOLink    Reason = "an LTO link needs no profile"
)
