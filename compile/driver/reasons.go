package driver

import (
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Reason says why the launcher runs a command as it is, without a slice of the profile.
type Reason = command.Reason

// These are the reasons of a [Launcher], besides those of package command.
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

// An Outcome is what the launcher did for a command.
type Outcome = store.Outcome

// These are the outcomes that the statistics of the cache count.
const (
	OutcomeSliced   Outcome = store.Sliced   // the compile got a new or changed slice
	OutcomeSame     Outcome = store.Same     // the slice was rebuilt and is unchanged
	OutcomeUpToDate Outcome = store.UpToDate // the slice of the last run is still valid; the profile was not read
	OutcomeRestored Outcome = store.Restored // the slice came from the cache; the profile was not read
	OutcomeNothing  Outcome = store.Nothing  // the profile has no samples of its functions
	OutcomeWhole    Outcome = store.Whole    // the compile got the whole profile, since its sources do not show which functions it defines
	OutcomeAsItIs   Outcome = store.AsItIs   // the command runs without a slice, see Plan.Reason
	OutcomeFailed   Outcome = store.Failed   // Prepare returned an error
)
