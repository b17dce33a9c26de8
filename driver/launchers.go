package driver

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/driver/command"
)

// keyed are the launchers that keep objects by command line and preprocessed source, and do not
// know that a profile is read, too. ccache does.
var keyed = []string{"sccache", "buildcache", "gomacc", "rewrapper"}

// keyedByPath returns the launcher that would take an object of another slice of the same name, if
// there is one.
func keyedByPath(c *command.Line) string {
	for _, word := range c.Launcher {
		if slices.Contains(keyed, command.ProgramName(word)) {
			return command.ProgramName(word)
		}
	}
	return ""
}

// elsewhere are the launchers that have other machines compile, which do not have the slice.
var elsewhere = []string{"distcc", "icecc"}

// keepHere has a command with a profile run on this machine. Distcc does so by itself; icecc would
// have another one say that there is no such file. It may come from a link or from ccache's
// settings, so it is told in any case.
func (p *preparation) keepHere(plan *Plan) {
	if plan.Slice == "" {
		return
	}
	if setting := os.Getenv("ICECC"); setting != "no" && setting != "disable" {
		plan.Env = append(plan.Env, "ICECC=no")
	}
	words := append(slices.Clone(p.command.Launcher), strings.Fields(os.Getenv("CCACHE_PREFIX"))...)
	for _, word := range words {
		if name := command.ProgramName(word); slices.Contains(elsewhere, name) {
			p.warnOf("elsewhere", "%s compiles files with a profile on this machine, as others do not have it", name)
		}
	}
}

// parentLauncher returns the name of the launcher that runs this process, if the
// system tells and it is one.
func parentLauncher() string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm")
	if err == nil && command.IsLauncher(strings.TrimSpace(string(name))) {
		return strings.TrimSpace(string(name))
	}
	return ""
}

// launcherBefore returns the name of a launcher that runs this process. One that does not know how
// to cache a command, and no compiler behind another program does it know, becomes that command:
// ccache leaves a setting, which then is none of the process that has run ccache.
func launcherBefore(c *command.Line) string {
	if launcher := parentLauncher(); launcher != "" {
		return launcher
	}
	isCcache := func(word string) bool { return command.ProgramName(word) == "ccache" }
	if os.Getenv(ccacheDisabled) != "1" || slices.ContainsFunc(c.Launcher, isCcache) {
		return ""
	}
	parent, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ")
	if err != nil || strings.Contains("\x00"+string(parent), "\x00"+ccacheDisabled+"=") {
		return ""
	}
	return "ccache"
}

// ccacheDisabled is set by ccache for what it runs.
const ccacheDisabled = "CCACHE_DISABLE"
