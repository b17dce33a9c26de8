package driver

import "github.com/go-afdo/afdo/internal/command"

// The reasons for which a [Launcher] runs a command unchanged, besides the reasons of package
// command.
const (
	ReasonOldGCC     command.Reason = "its compiler is not GCC 12 or later"
	ReasonOwnProfile command.Reason = "the compiler reads its -fauto-profile itself"
	ReasonOldClang   command.Reason = "its compiler is not clang 14 or later"
	ReasonUnreadable command.Reason = "its sources cannot be preprocessed"
	ReasonNoCompiler command.Reason = "its compiler is not there"
	ReasonNoPlace    command.Reason = "its slice can be written nowhere"
	ReasonSlowServer command.Reason = "the server of the profile is too slow"
	ReasonLTOLink    command.Reason = "an LTO link needs no profile"
)
