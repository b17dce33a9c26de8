package driver

import (
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Reason says why a command runs as it was given.
type Reason = command.Reason

// The reasons for which a [Launcher] runs a command unchanged, besides the reasons of package
// command.
const (
	ReasonOldGCC     Reason = command.OldGCC
	ReasonOwnProfile Reason = "the compiler reads its -fauto-profile itself"
	ReasonOldClang   Reason = command.OldClang
	ReasonUnreadable Reason = command.Unreadable
	ReasonNoCompiler Reason = "its compiler is not there"
	ReasonNoPlace    Reason = "its slice can be written nowhere"
	ReasonSlowServer Reason = "the server of the profile is too slow"
	ReasonLTOLink    Reason = "an LTO link needs no profile"
)

// An Outcome is what the launcher has done for a command.
type Outcome = store.Outcome

// The outcomes.
const (
	OutcomeSliced   Outcome = store.Sliced   // it got a slice that was new
	OutcomeSame     Outcome = store.Same     // the slice was rebuilt and is unchanged
	OutcomeUpToDate Outcome = store.UpToDate // it got the slice of its last run, with no look into the profile
	OutcomeRestored Outcome = store.Restored // it got a slice that the cache had, with no look into the profile
	OutcomeNothing  Outcome = store.Nothing  // the profile has nothing of it, and its slice no samples
	OutcomeWhole    Outcome = store.Whole    // it got the whole profile, since its sources do not tell what it defines
	OutcomeAsItIs   Outcome = store.AsItIs   // it runs without a slice, see Reason
	OutcomeFailed   Outcome = store.Failed   // there was an error
)
