package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// onTerminal returns what a command line prints on a terminal of 80 columns.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	terminal := clitest.Terminal(t)
	fd := int(terminal.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	shown, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	require.NoError(t, unix.IoctlSetWinsize(int(shown.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(terminal) // ends with an error when the other side is closed
		text <- string(all)
	}()
	assert.Equal(t, cli.StatusDone, run(newEnv(cli.Env{Out: shown, Err: io.Discard}), args))
	require.NoError(t, shown.Close())
	return strings.ReplaceAll(<-text, "\r\n", "\n")
}

// TestLookupEscapes checks that names in the text formats of lookup are escaped on a terminal, and
// only there.
func TestLookupEscapes(t *testing.T) {
	const name = "f\x1b]0;title\a"
	samples := writeFile(t, "samples", []byte(name+":100:1\n 1: 100\n"))
	counts := writeFile(t, "counts", []byte(":ir\n"+name+"\n1\n1\n5\n\n"))
	for _, file := range []string{samples, counts} {
		assert.Contains(t, must(t, "lookup", file, "-s", name), name)
		text := onTerminal(t, "lookup", file, "-s", name)
		assert.NotContains(t, text, "\x1b")
		assert.Contains(t, text, `f\x1b]0;title\a`)
	}
}

// TestColours checks that no colours are printed on a terminal without escape sequences, or if
// NO_COLOR is set.
func TestColours(t *testing.T) {
	terminal := clitest.Terminal(t)
	for _, c := range []struct {
		term, none string
		colored    bool
	}{{"xterm", "", true}, {"dumb", "", false}, {"xterm", "1", false}} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.none)
		assert.Equal(t, c.colored, cli.Colored(terminal, cli.Red, "red") != "red", c)
	}
}

// TestListsFitTheTerminal checks that lists shorten names to the width of the terminal, and that -v
// prints the names in full.
func TestListsFitTheTerminal(t *testing.T) {
	long := strings.Repeat("folder/", 20) + "file.cc"
	units := writeFile(t, "units", gen.Encode(&naive.File{Units: []naive.Unit{{Path: long}}}, false))
	name := "_ZN7android" + strings.Repeat("5queueINS_6stringEE", 9) + "4pushEv"
	name = strings.Replace(name, "_ZN7android", "_ZN7android3one", 1)
	first := writeFile(t, "first", []byte(name+":100:1\n 1: 100\nmain:50:1\n 1: 50\n"))
	second := writeFile(t, strings.Repeat("second", 20), []byte("main:70:1\n 1: 50\n 2: 20\n"))
	for full, args := range map[string][]string{long: {"units", units}, name: {"diff", first, second}} {
		text := onTerminal(t, args...)
		assert.NotContains(t, text, full)
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
		assert.Contains(t, onTerminal(t, append(args, "-v")...), full)
	}
}
