// Package trim has the flags of verbs that remove parts of a profile, such as --max-depth.
package trim

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// Help is the paragraph about the flags of this package in the help of a verb.
const Help = `Flags, in this order:
  --strip-suffixes  removes compiler suffixes from all names: .isra.N, .constprop.N,
                    .part.N, .cold, .lto_priv.N, .localalias and .llvm.N. Functions
                    of a unit that then have the same name are merged.
  --only-names      keeps only the functions whose names match.
  --strip-names     removes the functions whose names match. The patterns are Go's
                    and match anywhere in the assembler name. What a function
                    inlines or calls stays in it.
  --max-depth N     replaces inlining more than N deep by calls, and adds the
                    samples to the functions called. No sample is lost.
  --max-targets N   keeps the N most frequent call targets of each location.
  --keep SHARE      keeps the hottest functions that together have this share of
                    all samples, as in 99.99%, and those as hot as the last.
Standard error reports what was removed, and the summary is recomputed.`

// Flags holds the values of the flags that remove parts of a profile.
type Flags struct {
	suffixes             bool
	only, strip          *regexp.Regexp
	maxDepth, maxTargets *int
	keep                 cli.Flag[profile.Ratio]
	share                profile.Ratio // of keep
}

// AddTo adds the flags that remove parts of a profile to the command of a verb.
func (t *Flags) AddTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&t.suffixes, "strip-suffixes", false, "take compiler suffixes off names")
	f.Var(patternFlag(&t.only), "only-names", "keep only functions whose names match")
	f.Var(patternFlag(&t.strip), "strip-names", "leave out functions whose names match")
	f.Var(limitFlag(&t.maxDepth), "max-depth", "how deep functions may be inlined, 0 for not at all")
	f.Var(limitFlag(&t.maxTargets), "max-targets", "how many call targets a location may have")
	t.keep = cli.Flag[profile.Ratio]{To: &t.share, Parse: ParseShare, Kind: "SHARE"}
	f.Var(&t.keep, "keep", "share of all samples to keep the hottest functions for, as in 99.99%")
}

// Any reports whether any flag that removes parts of a profile is set.
func (t *Flags) Any() bool {
	return t.suffixes || t.only != nil || t.strip != nil || t.maxDepth != nil || t.maxTargets != nil || t.keep.String() != ""
}

// Apply returns the profile without the parts that the flags remove. Each note describes what one
// flag has removed.
func (t *Flags) Apply(p *profile.Profile) (_ *profile.Profile, notes []string) {
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if t.suffixes {
		q, renamed, merged := p.StripSuffixes()
		say("--strip-suffixes: symbols renamed: %s, merged with another of their name: %s", human.Number(renamed), human.Number(merged))
		p = q
	}
	if re := t.only; re != nil {
		q, removed := p.KeepFunctions(func(s profile.SymbolRef) bool { return re.MatchString(p.SymbolName(s)) })
		sayRemoved(say, "--only-names", removed)
		p = q
	}
	if re := t.strip; re != nil {
		q, removed := p.LeaveOut(func(s profile.SymbolRef) bool { return re.MatchString(p.SymbolName(s)) })
		sayRemoved(say, "--strip-names", removed)
		p = q
	}
	if t.maxDepth != nil {
		q, folded := p.FoldInlined(*t.maxDepth)
		say("--max-depth %d: inlined bodies moved to their functions: %s", *t.maxDepth, human.Number(folded))
		p = q
	}
	if t.maxTargets != nil {
		q, removed, calls := p.LimitTargets(*t.maxTargets)
		say("--max-targets %d: call targets left out: %s, with %s calls", *t.maxTargets, human.Number(removed), human.Number(calls))
		p = q
	}
	if text := t.keep.String(); text != "" {
		q, removed := p.KeepHottest(t.share)
		sayRemoved(say, "--keep "+text, removed)
		p = q
	}
	return p, notes
}

func sayRemoved(say func(string, ...any), flag string, r profile.Removed) {
	say("%s: functions left out: %s, with %s samples, %s of all", flag, human.Number(r.Functions), human.Number(r.Samples), human.Percent(r.Share))
}

// patternFlag returns a flag of the command line whose value is a regular expression. It stores the
// expression in *to.
func patternFlag(to **regexp.Regexp) *cli.Flag[*regexp.Regexp] {
	return &cli.Flag[*regexp.Regexp]{To: to, Parse: regexp.Compile, Kind: "REGEX"}
}

// limitFlag returns a flag of the command line whose value is a maximum, such as --max-depth. It
// stores the number in *to, which stays nil if the flag is not given.
func limitFlag(to **int) *cli.Flag[*int] {
	return &cli.Flag[*int]{To: to, Kind: "N", Parse: func(text string) (*int, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		limit := int(min(n, math.MaxInt32))
		return &limit, err
	}}
}

// ParseShare parses a share of a total, such as 5% or 1/20. It is above 0 and at most 100%.
func ParseShare(text string) (profile.Ratio, error) {
	ratio, err := profile.ParseRatio(text)
	if err == nil && ratio.Num > ratio.Den {
		err = errors.New("want at most 100%")
	}
	return ratio, err
}
