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

// A run is the work of a launcher for one command.
type run struct {
	*Launcher
	ctx    context.Context // ends the compilers that the launcher runs
	start  command.Line    // has the folder in which the command starts, before env -C
	warned bool            // there was something to warn of, even if Warn was already called for it in this build
}

// warn calls Launcher.Warn, unless it was called with the same message before in this build.
func (r *run) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.warnOf(command.Reason(text), "%s", text)
}

// warnOf gives a warning to the user, see [Launcher.warnOf]. It also records that the command has
// something to warn of, so that its plan is not stored for later runs.
func (r *run) warnOf(what command.Reason, format string, args ...any) {
	r.warned = true
	r.Launcher.warnOf(what, format, args...)
}

// warnOf calls Launcher.Warn, unless a warning of the kind what was given before in this build.
func (l *Launcher) warnOf(what command.Reason, format string, args ...any) {
	if l.Warn != nil && l.Cache.files().Once(string(what)) {
		l.Warn(fmt.Sprintf(format, args...))
	}
}

// trace calls Launcher.Trace, if there is one, with a line about what the launcher does.
func (l *Launcher) trace(format string, args ...any) {
	if l.Trace != nil {
		l.Trace(fmt.Sprintf(format, args...))
	}
}

// An unchanged is the error of a stage after which the command runs as it was given, without a
// slice of the profile.
type unchanged struct {
	reason command.Reason // for the statistics
	why    string         // for messages
}

func (u *unchanged) Error() string { return u.why }

// asItIs returns the plan that runs a command as it was given.
func (r *run) asItIs(c *command.Line, reason command.Reason, why string) (*Plan, error) {
	r.trace("running %s without the profile: %s", filepath.Base(c.Compiler), why)
	return &Plan{Argv: c.Argv(), Outcome: OutcomeAsItIs, Reason: reason}, nil
}

// readCommand parses a command. If the command seems to compile, but its program has an unknown
// name such as mpicc, readCommand asks the program whether it is GCC. If the source is standard
// input, readCommand reads the source.
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

// builders are programs that start compilers. Users run them by mistake as "afdo exec -- make",
// although afdo exec expects a compiler there.
var builders = []string{"make", "gmake", "ninja", "meson"}

// noCompile returns the plan for a command that compiles nothing. It removes an option for a
// profile that would make the command fail.
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
	if c.Reason == command.NoGCC && (c.SeemsToCompile() || slices.Contains(builders, c.Compiler)) {
		r.warn("%s is not GCC or clang that afdo knows; running it without a profile", c.Compiler)
	}
	plan, err := r.asItIs(c, c.Reason, string(c.Reason))
	if c.PrecompilesHeader() && !c.Clang && (r.Profile != "" || c.Profile != "") {
		// GCC stores parameters in a precompiled header, and restores them over those of the
		// command line. So a precompiled header gets the options of the compiles that include it.
		// If the compiler is unknown, these report it.
		if compiler, err := toolchain.Find(r.ctx, c, r.Cache.files()); err == nil {
			r.addOptions(c, compiler, r.Arcs, plan)
		}
	}
	return plan, err
}

// warnOfParent warns if ccache or a similar program has started this launcher. Users have to call
// them in the other order. A ccache that comes first does not know the profile that the launcher
// adds to the command, so it caches nothing.
func (r *run) warnOfParent(c *command.Line) {
	if launcher := planned.ParentLauncher(); launcher != "" {
		r.warnOf("before", "%s runs before the launcher and does not see slices, so nothing is cached: put it after the launcher, %q", launcher, "afdo exec ... -- "+launcher+" gcc ...")
	} else if mayFollowCcache(c) {
		r.warnOf("maybe before", "%s=1 is set, so nothing is cached. If ccache has set it because ccache runs before the launcher, put ccache after it: %q", ccacheDisabled, "afdo exec ... -- ccache gcc ...")
	}
}

// mayFollowCcache reports whether ccache may have started this process. ccache sets
// CCACHE_DISABLE=1 when it runs a command that it cannot cache, and it cannot cache a compiler that
// another program, such as this one, runs. But users also set CCACHE_DISABLE. So mayFollowCcache
// returns false if the parent process already has that variable, or if the command runs ccache
// itself.
func mayFollowCcache(c *command.Line) bool {
	isCcache := func(word string) bool { return command.ProgramName(word) == "ccache" }
	if os.Getenv(ccacheDisabled) != "1" || slices.ContainsFunc(c.Launcher, isCcache) {
		return false
	}
	parent, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ")
	return err == nil && !strings.Contains("\x00"+string(parent), "\x00"+ccacheDisabled+"=")
}

// ccacheDisabled is the environment variable that ccache sets for the programs that it runs.
const ccacheDisabled = "CCACHE_DISABLE"
