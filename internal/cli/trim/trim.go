// Package trim has the flags of verbs that remove parts of a profile, such as --max-depth.
package trim

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// Help is the help text of these flags.
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
	suffixes            bool
	only, strip         pattern
	maxDepth, maxTarget limit
	keep                share
}

// AddTo adds the flags that remove parts of a profile to the command of a verb.
func (t *Flags) AddTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&t.suffixes, "strip-suffixes", false, "take compiler suffixes off names")
	f.Var(&t.only, "only-names", "keep only functions whose names match")
	f.Var(&t.strip, "strip-names", "leave out functions whose names match")
	f.Var(&t.maxDepth, "max-depth", "how deep functions may be inlined, 0 for not at all")
	f.Var(&t.maxTarget, "max-targets", "how many call targets a location may have")
	f.Var(&t.keep, "keep", "share of all samples to keep the hottest functions for, as in 99.99%")
}

// Any reports whether any flag that removes parts of a profile is set.
func (t *Flags) Any() bool {
	return t.suffixes || t.only.re != nil || t.strip.re != nil || t.maxDepth.set || t.maxTarget.set || t.keep.set()
}

// Apply returns the profile without the parts that the flags remove, and a note for each flag that
// says what was removed.
func (t *Flags) Apply(p *profile.Profile) (_ *profile.Profile, notes []string) {
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if t.suffixes {
		q, renamed, merged := p.StripSuffixes()
		say("--strip-suffixes: symbols renamed: %s, merged with another of their name: %s", human.Number(renamed), human.Number(merged))
		p = q
	}
	if re := t.only.re; re != nil {
		q, removed := p.KeepFunctions(func(s profile.SymbolRef) bool { return re.MatchString(p.SymbolName(s)) })
		sayRemoved(say, "--only-names", removed)
		p = q
	}
	if re := t.strip.re; re != nil {
		q, removed := p.LeaveOut(func(s profile.SymbolRef) bool { return re.MatchString(p.SymbolName(s)) })
		sayRemoved(say, "--strip-names", removed)
		p = q
	}
	if t.maxDepth.set {
		q, folded := p.FoldInlined(t.maxDepth.n)
		say("--max-depth %d: inlined bodies moved to their functions: %s", t.maxDepth.n, human.Number(folded))
		p = q
	}
	if t.maxTarget.set {
		q, removed, calls := p.LimitTargets(t.maxTarget.n)
		say("--max-targets %d: call targets left out: %s, with %s calls", t.maxTarget.n, human.Number(removed), human.Number(calls))
		p = q
	}
	if t.keep.set() {
		q, removed := p.KeepHottest(t.keep.ratio)
		sayRemoved(say, "--keep "+t.keep.text, removed)
		p = q
	}
	return p, notes
}

func sayRemoved(say func(string, ...any), flag string, r profile.Removed) {
	say("%s: functions left out: %s, with %s samples, %s of all", flag, human.Number(r.Functions), human.Number(r.Samples), human.Percent(r.Share))
}

// A pattern is the value of a flag that is a regular expression.
type pattern struct{ re *regexp.Regexp }

func (p *pattern) String() string {
	if p.re == nil {
		return ""
	}
	return p.re.String()
}

func (p *pattern) Set(text string) (err error) {
	p.re, err = regexp.Compile(text)
	return err
}

func (p *pattern) Type() string { return "REGEX" }

// A limit is the value of a flag that is a maximum. set distinguishes 0 from a flag that is not
// given.
type limit struct {
	n   int
	set bool
}

func (l *limit) String() string {
	if !l.set {
		return ""
	}
	return strconv.Itoa(l.n)
}

func (l *limit) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	l.n, l.set = int(min(n, math.MaxInt32)), true
	return nil
}

func (l *limit) Type() string { return "N" }

// A share is the value of a flag that is a share of a total, at most 100 %.
type share struct {
	text  string
	ratio profile.Ratio
}

func (s *share) set() bool { return s.text != "" }

func (s *share) String() string { return s.text }

func (s *share) Set(text string) error {
	ratio, err := profile.ParseRatio(text)
	if err != nil {
		return err
	}
	if ratio.Num > ratio.Den {
		return errors.New("want at most 100%")
	}
	s.text, s.ratio = text, ratio
	return nil
}

func (s *share) Type() string { return "SHARE" }
