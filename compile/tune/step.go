package tune

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/duel"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/shell"
	"github.com/go-afdo/afdo/internal/together"
)

// A state is the content of the file state.json in the working folder: the steps that have been
// done, and facts that they found out. See recorderEntry, leftOutEntry and shortTraining for the
// facts.
type state struct {
	path string
	Done map[string]string // for each step that was done, the hash of its inputs; also the facts
}

// readState reads the state from a file. If there is none, or if it cannot be read, no step counts
// as done.
func readState(path string) *state {
	s := &state{path: path}
	if data, err := files.ReadFile(path, maxOwn); err != nil || json.Unmarshal(data, s) != nil || s.Done == nil {
		s.Done = make(map[string]string)
	}
	return s
}

// set stores an entry in the file with the state of tune. For a step, key is the hash of the inputs
// with which the step was done, or "" if it was not done. For a fact, such as [recorderEntry], key
// is its value.
func (s *state) set(step, key string) error {
	s.Done[step] = key
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return files.Replace(s.path, data)
}

// keyOf returns a hash of all its arguments.
func keyOf(parts ...any) string {
	h := xxhash.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\x00", p)
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// These are the names of the steps, in messages and in the state.
const (
	buildingBase      = "building without a profile"
	firstRunning      = "running the measured program once"
	training          = "training"
	creating          = "creating the profile"
	buildingFast      = "building with the profile"
	buildingForLayout = "building for the layout"
	trainingForLayout = "training for the layout"
	layingOut         = "making the layout"
	buildingPlaced    = "building with the layout"
	leavingOut        = "leaving out functions"
	measuring         = "measuring"
)

// step runs a step, unless the state says that it was done with the same inputs, whose hash is
// t.key.
func (t *tuning) step(name string, do func() error) error {
	t.begin(name)
	if t.state.Done[name] == t.key && !t.Again {
		t.detail(DoneBefore)
		return nil
	}
	if err := t.state.set(name, ""); err != nil {
		return err
	}
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return t.state.set(name, t.key)
}

// A task is a command that a step of tune runs, with its folder and its environment.
type task struct {
	argv []string
	dir  string
	env  []string  // variables in addition to the environment of all commands
	out  io.Writer // standard output; nil to keep it for error messages
}

// program returns the path of the program to run. It looks in the PATH that the task sets, while
// exec.Command would look in that of this process.
func (c task) program() string {
	if c.argv[0] != filepath.Base(c.argv[0]) {
		return c.argv[0]
	}
	for _, dir := range filepath.SplitList(setting(c.env, "PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, c.argv[0])); err == nil {
			return found
		}
	}
	return c.argv[0]
}

// inShell returns the words of a command that runs a command line in a shell.
func inShell(line string) []string { return []string{"sh", "-c", line} }

// do runs a command and writes it to the log. When ctx is done, all processes that the command has
// started are ended.
func (t *tuning) do(ctx context.Context, c task) (duel.Usage, error) {
	t.logf("(cd %s && %s)", shell.Quote(c.dir), strings.Join(append(quoteSettings(c.env), shell.Line(c.argv)), " "))
	return t.quietly(ctx, c)
}

// quietly runs a command without writing it to the log. When ctx is done, all processes that the
// command has started are ended.
func (t *tuning) quietly(ctx context.Context, c task) (duel.Usage, error) {
	cmd := exec.CommandContext(ctx, c.program(), c.argv[1:]...)
	cmd.Args[0] = c.argv[0]
	cmd.Dir, cmd.Env = c.dir, append(append([]string{}, t.env...), c.env...)
	said := outputTail{logf: t.logf}
	cmd.Stdout, cmd.Stderr = &said, &said
	if c.out != nil {
		cmd.Stdout = c.out
	}
	together.End(cmd)
	start := time.Now()
	err := cmd.Run()
	u := duel.Usage{Wall: time.Since(start)}
	if cmd.ProcessState != nil {
		u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return u, &CommandError{Argv: c.argv, Dir: c.dir, Err: err, Said: said.String()}
	}
	return u, nil
}

// A CommandError is the error of a command that tune ran and that failed.
type CommandError struct {
	Argv []string
	Dir  string
	Err  error
	Said string // end of its output
}

// Error returns the command, its exit status, and the end of its output.
func (e *CommandError) Error() string {
	text := fmt.Sprintf("(cd %s && %s): %v", shell.Quote(e.Dir), shell.Line(e.Argv), e.Err)
	if said := strings.TrimSpace(e.Said); said != "" {
		text += "\n" + said
	}
	return text
}

// Unwrap returns the error with which the process of the command has ended.
func (e *CommandError) Unwrap() error { return e.Err }

// maxTail is the number of bytes at the end of a command's output that are kept for its error.
const maxTail = 4 << 10

// An outputTail receives the output of a command. It keeps the last maxTail bytes, and passes each
// line that the command afdo has printed to logf, for example that a file is compiled without the
// profile.
type outputTail struct {
	logf func(format string, args ...any)
	line []byte // start of the current line
	data []byte // end of the output
}

// Write takes the next output of the command, of which only the last bytes are stored. It never
// returns an error.
func (t *outputTail) Write(p []byte) (int, error) {
	for _, b := range p {
		if b != '\n' {
			if len(t.line) < maxTail {
				t.line = append(t.line, b)
			}
			continue
		}
		if bytes.HasPrefix(t.line, []byte("afdo: ")) {
			t.logf("# %s", t.line)
		}
		t.line = t.line[:0]
	}
	t.data = append(t.data, p...)
	if cut := len(t.data) - 2*maxTail; cut > 0 {
		t.data = append(t.data[:0], t.data[len(t.data)-maxTail:]...)
	}
	return len(p), nil
}

// String returns the last complete lines of the output, at most maxTail bytes.
func (t *outputTail) String() string {
	data := t.data
	if cut := len(data) - maxTail; cut > 0 {
		data = data[cut:]
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	return string(data)
}

// quoteSettings takes environment settings NAME=VALUE and quotes their values for a shell.
func quoteSettings(settings []string) []string {
	quoted := make([]string, len(settings))
	for i, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		quoted[i] = name + "=" + shell.Quote(value)
		if before, ok := strings.CutSuffix(value, ":"+os.Getenv("PATH")); ok && name == "PATH" {
			quoted[i] = "PATH=" + shell.Quote(before) + `:"$PATH"`
		}
	}
	return quoted
}
