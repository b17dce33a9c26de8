package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
)

// A run is a launcher at work for one command. It passes on what the stages report.
type run struct {
	*Launcher
	ctx    context.Context // ends the programs that it runs
	warned bool            // there was something to report, even if this build has seen it before
}

// warn reports something once in a build.
func (r *run) warn(format string, args ...any) {
	r.warned = true
	r.Launcher.warn(format, args...)
}

// warnOf reports one thing of a kind in a build, for the first command that it is about.
func (r *run) warnOf(what command.Reason, format string, args ...any) {
	r.warned = true
	r.Launcher.warnOf(what, format, args...)
}

func (l *Launcher) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if l.Warn != nil && l.Cache.files().Once(text) {
		l.Warn(text)
	}
}

func (l *Launcher) warnOf(what command.Reason, format string, args ...any) {
	if l.Warn != nil && l.Cache.files().Once(string(what)) {
		l.Warn(fmt.Sprintf(format, args...))
	}
}

func (l *Launcher) trace(format string, args ...any) {
	if l.Trace != nil {
		l.Trace(fmt.Sprintf(format, args...))
	}
}

// An unchanged is the error of a stage that lets the command run as it was given.
type unchanged struct {
	reason command.Reason
	why    string
}

func (u *unchanged) Error() string { return u.why }

// asItIs returns the command as it was given.
func (r *run) asItIs(c *command.Line, reason command.Reason, why string) (*Plan, error) {
	r.trace("running %s without the profile: %s", filepath.Base(c.Compiler), why)
	return &Plan{Argv: c.Argv(), Outcome: OutcomeAsItIs, Reason: reason}, nil
}

// readCommand parses a command. A program with an unknown name, such as mpicc, is asked whether it
// is a compiler of GCC, if it is about to compile and runs no other compiler. A source on standard
// input is read.
func (r *run) readCommand(argv []string, dir string) *command.Line {
	c := command.Parse(argv, dir)
	if c.Reason == command.NoGCC && c.MayBeGCC() {
		if _, err := toolchain.Find(r.ctx, c, r.Cache.files()); err == nil {
			c.TakeForGCC()
		}
	}
	if c.ReadsOnlyStdin() && r.Stdin != nil {
		if text, err := r.Stdin(); err == nil {
			c.TakeStdin(text)
		} else {
			r.warnOf("stdin", "standard input cannot be read as a source: %v", err)
		}
	}
	return c
}

// noCompile returns the plan for a command that compiles nothing.
func (r *run) noCompile(c *command.Line) (*Plan, error) {
	if c.Profile != "" && (c.Reason == command.Trial || c.LTO && isV4(c.Path(c.Profile))) {
		r.trace("running the command without -fauto-profile=%s: %s", c.Profile, c.Reason)
		reason := c.Reason
		if reason != command.Trial {
			reason = ReasonLTOLink
		}
		return &Plan{Argv: c.WithProfile(""), Outcome: OutcomeAsItIs, Reason: reason}, nil
	}
	if c.Reason == command.ReadsStdin {
		r.warnOf(c.Reason, "a source is standard input or a pipe, which can be read once: it is compiled without the profile")
	}
	if c.Reason == command.NoGCC && c.SeemsToCompile() {
		r.warn("%s is not GCC or clang that afdo knows; running it without a profile", c.Compiler)
	}
	plan, err := r.asItIs(c, c.Reason, string(c.Reason))
	if c.PrecompilesHeader() && !c.Clang && !r.Arcs && (r.Profile != "" || c.Profile != "") {
		// GCC stores parameters in a precompiled header, and restores them over those of the
		// command line. So a precompiled header gets the options of the compiles that include it.
		// If the compiler is unknown, these report it.
		if compiler, err := toolchain.Find(r.ctx, c, r.Cache.files()); err == nil {
			r.addOptions(c, compiler, plan)
		}
	}
	return plan, err
}

// warnOfParent warns if ccache or another launcher runs before this one.
func (r *run) warnOfParent(c *command.Line) {
	if launcher := planned.ParentLauncher(); launcher != "" {
		r.warnOf("before", "%s runs before the launcher and does not see slices, so nothing is cached: put it after the launcher, %q", launcher, "afdo exec ... -- "+launcher+" gcc ...")
	} else if mayFollowCcache(c) {
		r.warnOf("maybe before", "%s=1 is set, so nothing is cached. If ccache has set it because ccache runs before the launcher, put ccache after it: %q", ccacheDisabled, "afdo exec ... -- ccache gcc ...")
	}
}

// mayFollowCcache reports whether ccache may have run this process. If ccache does not know how to
// cache a command, it sets CCACHE_DISABLE=1 and becomes that command, and it knows no compiler that
// another program runs. But others set CCACHE_DISABLE, too. The setting is not ccache's if the
// parent process has it, or if the command runs ccache itself.
func mayFollowCcache(c *command.Line) bool {
	isCcache := func(word string) bool { return command.ProgramName(word) == "ccache" }
	if os.Getenv(ccacheDisabled) != "1" || slices.ContainsFunc(c.Launcher, isCcache) {
		return false
	}
	parent, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ")
	return err == nil && !strings.Contains("\x00"+string(parent), "\x00"+ccacheDisabled+"=")
}

// ccacheDisabled is the variable that ccache sets for the programs that it runs.
const ccacheDisabled = "CCACHE_DISABLE"
