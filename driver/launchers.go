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

// keepHere makes distributing launchers run a command with a profile on this machine. Distcc does
// so by itself. icecc would run it on another machine, where the profile does not exist. icecc may
// be started by a link or by ccache's settings, so its environment variable is set in any case.
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
