package tune

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/shell"
)

// checkRust returns an error if rustc does not take a profile.
func (t *tuning) checkRust(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "rustc", "-Zhelp")
	cmd.Env = t.env
	if out, err := cmd.CombinedOutput(); err != nil {
		said, _, _ := strings.Cut(string(out), "\n")
		return fmt.Errorf("tune: %w: rustc takes a profile only if it is a nightly, or with RUSTC_BOOTSTRAP=1, which you can set with --env RUSTC_BOOTSTRAP=1: %s", ErrCannotTune, strings.TrimSpace(said+" "+err.Error()))
	}
	return nil
}

// rustc is the name of the compiler in the log of compiles and in Result.Compilers.
const rustc = "rustc"

// rustWrapper is the name of the script that runs rustc for cargo, see RUSTC_WRAPPER.
const rustWrapper = "rustc-wrapper"

// writeRustWrapper writes the script. It logs compiles, not questions to the compiler. The script,
// and not a setting of cargo's profile, asks for debug info: cargo hashes the settings into the
// names of symbols, so a profile of a program with other settings would have other names.
func (t *tuning) writeRustWrapper(bin, log, reached, profile string) error {
	flags, used := "-Cdebuginfo=2 -Cstrip=none -Zdebug-info-for-profiling", ""
	if profile != "" {
		flags += " -Zprofile-sample-use=" + shell.Quote(profile)
		used = fmt.Sprintf("; echo '{\"outcome\":%q}' >> %s", driver.OutcomeWhole, shell.Quote(reached))
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in\n*' --print'*|*' -vV '*) exec \"$@\";;\nesac\nprintf '%%s %%s\\n' rustc \"$*\" >> %s%s\nexec \"$@\" %s\n", shell.Quote(log), used, flags)
	return os.WriteFile(filepath.Join(bin, rustWrapper), []byte(script), 0o777)
}
