// Package weighing has the flags for the weights of the inputs of a merge, such as --half-life.
package weighing

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fleet"
	"github.com/go-afdo/afdo/profile"
)

// Help is the help text of these flags and of lists of inputs.
const Help = `A line of LIST is IN[=WEIGHT], and after it, separated by tabs, any of
  weight=WEIGHT  host=NAME  time=2026-01-31T04:00:00Z  age=36h
Empty lines and lines that begin with "#" are skipped.

What an input counts for:
  --scale WEIGHT         multiplies all weights. Counts are whole numbers: where
                         they are small, a large scale keeps them from being
                         rounded away.
  --half-life DURATION   halves the weight of an input for each DURATION of its
                         age, as in 7d or 36h. The age is that of the list, or of
                         the file's last change.
  --as-of TIME           is what ages count from; now if not given.
  --host-cap SAMPLES     merges the inputs of each host by themselves first. If
                         their counts add up to more than SAMPLES, they are scaled
                         down to that. An input without a host is one by itself.`

// Flags holds the values of the flags that give the inputs of a merge their weights.
type Flags struct {
	Rules fleet.Rules
}

// AddTo adds the flags for the weights of inputs to the command of a verb. The default of --as-of
// is the current time.
func (f *Flags) AddTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.Rules.AsOf = time.Now()
	flags.Var(&cli.Flag[profile.Ratio]{To: &f.Rules.Scale, Parse: profile.ParseRatio, Kind: "WEIGHT"}, "scale", "factor for all weights")
	flags.Var(&cli.Flag[time.Duration]{To: &f.Rules.HalfLife, Parse: fleet.ParseDuration, Kind: "DURATION"}, "half-life", "age at which an input counts for half, as in 7d or 36h")
	flags.Var(&cli.Flag[time.Time]{To: &f.Rules.AsOf, Parse: fleet.ParseTime, Kind: "TIME"}, "as-of", "what ages count from, as in 2026-01-31T04:00:00Z; now if not given")
	flags.Uint64Var(&f.Rules.HostCap, "host-cap", 0, "samples that one host may add, 0 for any number")
}
