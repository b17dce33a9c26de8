package tune

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/shell"
)

// rustOptions are the options of rustc for a profile. Unstable options change their names from
// release to release, so they are read from the output of rustc -Zhelp.
type rustOptions struct {
	debugInfo, profile string // "-Zdebug-info-for-profiling" and "-Zprofile-sample-use=", or other names
}

// isUnstable reports whether one of the options is unstable: rustc accepts it only if it is a
// nightly, or with RUSTC_BOOTSTRAP=1.
func (o rustOptions) isUnstable() bool {
	return strings.HasPrefix(o.debugInfo, "-Z") || strings.HasPrefix(o.profile, "-Z")
}

// AllowUnstable is the environment setting with which a stable rustc accepts unstable options.
const AllowUnstable = "RUSTC_BOOTSTRAP=1"

// askRust runs rustc, which lists its options, to find out the names of the options for a profile.
func askRust(ctx context.Context, dir string, env []string) (o rustOptions, err error) {
	path := cmp.Or(setting(env, "RUSTC"), rustc)
	for _, kind := range []string{"-C", "-Z"} {
		cmd := exec.CommandContext(ctx, task{argv: []string{path}, env: env}.program(), kind+"help")
		cmd.Dir, cmd.Env = dir, append(slices.Clone(env), AllowUnstable)
		out, err := cmd.CombinedOutput()
		if err != nil {
			said, _, _ := strings.Cut(string(out), "\n")
			return o, fmt.Errorf("tune: %w: %s %shelp does not list its options: %s", errCannotTune, path, kind, strings.TrimSpace(said+" "+err.Error()))
		}
		o.find(kind, string(out))
	}
	if o.profile == "" {
		return o, fmt.Errorf("tune: %w: %s has no option for a sample profile: neither -Chelp nor -Zhelp lists one such as profile-sample-use", errCannotTune, path)
	}
	return o, nil
}

// find looks for the options in the help of rustc, whose lines are such as "-Z
// profile-sample-use=val -- text". kind is -C or -Z.
func (o *rustOptions) find(kind, help string) {
	for line := range strings.Lines(help) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != kind {
			continue
		}
		name, _, _ := strings.Cut(words[1], "=")
		switch has := func(part string) bool { return strings.Contains(name, part) }; {
		case o.debugInfo == "" && has("debug") && has("profiling"):
			o.debugInfo = kind + name
		case o.profile == "" && has("sample") && has("prof") && has("use"):
			o.profile = kind + name + "="
		}
	}
}

// checkRust asks rustc for the names of its options for a profile and stores them in t.rustOptions.
// It tells the user if they are unstable.
func (t *tuning) checkRust(ctx context.Context) (err error) {
	if t.rustOptions, err = askRust(ctx, t.Tree, t.env); err == nil && t.rustOptions.isUnstable() {
		t.note("rustc gets unstable options, %s, which %s allows for this build", strings.TrimSuffix(strings.TrimSpace(t.rustOptions.debugInfo+" and "+t.rustOptions.profile), "="), AllowUnstable)
	}
	return err
}

// rustc is the name of the compiler in the log of compiles and in Result.Compilers.
const rustc = "rustc"

// rustWrapper is the name of the script that runs rustc for cargo, see RUSTC_WRAPPER.
const rustWrapper = "rustc-wrapper"

// writeRustWrapper writes the script rustWrapper to the folder bin. The script logs compiles, but
// not the runs in which cargo asks rustc for its version. The script, and not a setting of cargo's
// profile, asks for debug info: cargo hashes the settings into the names of symbols, so a profile
// of a program with other settings would have other names. Build scripts that ask rustc for its
// features see it without unstable options.
func (t *tuning) writeRustWrapper(bin, log, reached, profile string) error {
	o := t.rustOptions
	flags, used, allowed := "-Cdebuginfo=2 -Cstrip=none "+o.debugInfo, "", ""
	if profile != "" {
		flags += " " + o.profile + shell.Quote(profile)
		used = fmt.Sprintf("; echo '{\"outcome\":%q}' >> %s", driver.OutcomeWhole, shell.Quote(reached))
	}
	if o.isUnstable() {
		allowed = "export " + AllowUnstable + "\n"
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in\n*' --print'*|*' -vV '*) exec \"$@\";;\nesac\nprintf '%%s %%s\\n' rustc \"$*\" >> %s%s\n%sexec \"$@\" %s\n", shell.Quote(log), used, allowed, flags)
	return os.WriteFile(filepath.Join(bin, rustWrapper), []byte(script), 0o777)
}
