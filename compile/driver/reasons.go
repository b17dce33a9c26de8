package driver

import "github.com/go-afdo/afdo/internal/command"

// A Reason says why a command runs as it was given.
type Reason = command.Reason

// The reasons for which a [Launcher] runs a command unchanged, besides the reasons of package
// command.
const (
	ReasonOldGCC     Reason = "its compiler is not GCC 12 or later"
	ReasonOwnProfile Reason = "the compiler reads its -fauto-profile itself"
	ReasonOldClang   Reason = "its compiler is not clang 14 or later"
	ReasonUnreadable Reason = "its sources cannot be preprocessed"
	ReasonNoCompiler Reason = "its compiler is not there"
	ReasonNoPlace    Reason = "its slice can be written nowhere"
	ReasonSlowServer Reason = "the server of the profile is too slow"
	ReasonLTOLink    Reason = "an LTO link needs no profile"
)
