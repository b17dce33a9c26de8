package driver

import "github.com/go-afdo/afdo/compile/driver/command"

// The reasons for which a [Launcher] runs a command unchanged, besides the reasons of package
// command.
const (
	OldGCC     command.Reason = "its compiler is not GCC 12 or later"
	OwnProfile command.Reason = "the compiler reads its -fauto-profile itself"
	OldClang   command.Reason = "its compiler is not clang 14 or later"
	Unreadable command.Reason = "its sources cannot be preprocessed"
	NoCompiler command.Reason = "its compiler is not there"
	NoPlace    command.Reason = "its slice can be written nowhere"
	LTOLink    command.Reason = "an LTO link needs no profile"
)
