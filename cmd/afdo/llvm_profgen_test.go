package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// noProfgen are flags of llvm-profgen that create has no equivalent for, or with which llvm-profgen
// does not make a profile. testdata/llvm-tests.md says what to use instead.
var noProfgen = []string{
	"help", "llvm-sample-profile", "data-access-perftrace", "csspgo-preinliner=1", "gen-cs-nested-profile=1",
	"show-disassembly-only", "show-pseudo-probe", "show-density", "trim-cold-profile=1", "fill-zero-for-all-funcs",
	"compress-recursion", "csprof-max", "populate-profile-symbol-list", "mark-all-context-preinlined", "show-canonical-fname",
}

// keptOfProfgen are the flags that a repeated call of llvm-profgen keeps. Other flags set
// thresholds for hot and cold counts, or select what else is printed.
var keptOfProfgen = []string{
	"binary", "debug-binary", "perfscript", "ps", "unsymbolized-profile", "up", "use-dwarf-correlation", "pid", "use-offset",
	"use-first-loadable-segment-as-base", "dwp",
}

// profgen repeats a recorded call of llvm-profgen with llvm-profgen itself and with afdo create,
// and compares the profiles as text. llvm-profgen runs without its pre-inliner, and totals of
// functions are replaced by the sums of their counts.
func (s *llvmSweep) profgen(call string) {
	text, err := os.ReadFile(filepath.Join(call, "args"))
	require.NoError(s, err)
	given := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	line := strings.Join(given, " ")
	theirs, ours, name, raw := s.profgenLines(call, given)
	for _, flag := range noProfgen {
		if strings.Contains(line, "-"+flag) && !strings.Contains(line, "-"+flag+"=0") {
			s.add("profgen: no equivalent", flag+": "+name)
			return
		}
	}
	out := filepath.Join(s.work, "profgen")
	run := func(args ...string) (string, error) {
		_ = os.Remove(out)
		said, err := exec.Command("timeout", append(append([]string{"100", "llvm-profgen-22", "--format=text", "--output=" + out}, theirs...), args...)...).CombinedOutput()
		data, readErr := os.ReadFile(out)
		if err == nil && readErr != nil {
			return "", readErr
		} else if err != nil {
			return string(said), err
		}
		return string(data), nil
	}
	if raw { // what llvm-profgen notes of the recording, of which both make a profile
		noted, err := run("--skip-symbolization", "--ignore-stack-samples")
		if err == nil {
			theirs, ours = s.ofNoted(noted, theirs, ours)
			name += " --skip-symbolization"
		}
	}
	r := afdoRun(append(ours, "--contexts")...)
	flags := []string{"--trim-cold-profile=0", "--csspgo-preinliner=0", "--gen-cs-nested-profile=0", "--csprof-merge-cold-context=0"}
	if r.status != cli.StatusDone {
		r = afdoRun(ours...)
		flags = append(flags, "--ignore-stack-samples")
	}
	want, err := run(flags...)
	if err == nil && want != r.out { // totals of ranges are the number of bytes that ran, or the sums of the counts
		want, err = run(append(flags, "--update-total-samples=1")...)
	}
	switch {
	case err == nil:
		s.note("profgen", name, []byte(want), r)
	case r.status == cli.StatusDone:
		s.add("profgen: only afdo does it", name)
	default:
		s.add("profgen: both refuse", name)
	}
}

// profgenLines returns two command lines for a recorded call: the flags of llvm-profgen that matter
// for counts, and the arguments of afdo. name contains the names of the inputs. raw is set if
// llvm-profgen was to write ranges of addresses instead of a profile.
func (s *llvmSweep) profgenLines(call string, given []string) (theirs, ours []string, name string, raw bool) {
	ours = []string{"create", "--to", "sampletext", "--allow-poor", "--min-samples", "0"}
	for i, arg := range given {
		flag, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if flag == "skip-symbolization" {
			raw = true
		}
		if !slices.Contains(keptOfProfgen, flag) {
			continue
		}
		if copied := filepath.Join(call, string(rune('a'+i))); fileExists(copied) {
			value = copied
			arg = "--" + flag + "=" + value
		}
		theirs = append(theirs, arg)
		switch flag {
		case "binary":
			ours = append(ours, "--binary", value)
		case "debug-binary":
			ours = append(ours, "--debug-file", value)
		case "perfscript", "ps", "unsymbolized-profile", "up":
			ours = append(ours, "--profile", value)
			_, name, _ = strings.Cut(given[i], "=")
			name = filepath.Base(name)
		case "use-dwarf-correlation":
			ours = append(ours, "--no-probes")
		case "pid":
			ours = append(ours, "--pid", value)
		}
	}
	return theirs, ours, name, raw
}

// ofNoted writes the text noted, samples by ranges of addresses, to a file, and returns both
// command lines with that file in place of the recording.
func (s *llvmSweep) ofNoted(noted string, theirs, ours []string) (_, _ []string) {
	path := filepath.Join(s.work, "noted")
	require.NoError(s, os.WriteFile(path, []byte(noted), 0o666))
	theirs, ours = slices.Clone(theirs), slices.Clone(ours)
	for i, arg := range theirs {
		if strings.HasPrefix(strings.TrimLeft(arg, "-"), "perfscript=") || strings.HasPrefix(strings.TrimLeft(arg, "-"), "ps=") {
			theirs[i] = "--unsymbolized-profile=" + path
		}
	}
	if i := slices.Index(ours, "--profile"); i >= 0 {
		ours[i+1] = path
	}
	return theirs, ours
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// profgenScript returns a shell script in place of llvm-profgen. It records how it is called, and
// copies input files that tests overwrite later.
func (s *llvmSweep) profgenScript() string {
	var b bytes.Buffer
	b.WriteString("d=$(mktemp -d " + s.profgens + "/XXXXXXXX); n=(a b c d e f g h i j k l m n o p q r s t u v w x y z); i=0\n")
	b.WriteString(`for a in "$@"; do printf '%s\n' "$a" >>$d/args; f=${a#*=}` + "\n")
	b.WriteString(`case $a in *output*) ;; *) case $f in ` + s.work + `/*) [ ! -f "$f" ] || cp "$f" $d/${n[$i]};; esac;; esac; i=$((i+1)); done` + "\n")
	b.WriteString(`exec llvm-profgen-22 "$@"`)
	return b.String()
}
