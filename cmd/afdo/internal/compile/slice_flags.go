package compile

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
)

// compilers are what --for offers to a shell.
var compilers = []string{"gcc12", "gcc13", "gcc14", "gcc15", "gcc16"}

// A compilerName is the value of --for. The zero compilerName is none.
type compilerName struct {
	name   string
	target slice.Target
}

func (c *compilerName) String() string { return c.name }

func (c *compilerName) Set(name string) error {
	version, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(name, "gcc"), "-"))
	if err != nil || version < 10 || !strings.HasPrefix(name, "gcc") {
		return errors.New("want gcc10 or a later one")
	}
	c.name, c.target = name, slice.Version2
	if version >= 16 {
		c.target = slice.Version3
	}
	return nil
}

func (c *compilerName) Type() string { return "COMPILER" }

// targetOf returns the target of a slice that is written in a format.
func (c *compilerName) targetOf(f gcovkind.Format) (slice.Target, error) {
	target := slice.Version3
	if f == gcovkind.V2 {
		target = slice.Version2
	}
	if c.name == "" {
		return target, nil
	}
	if f.Old() && target != c.target {
		return 0, cli.Usagef("--for %s: that compiler reads v%d, not %s", c.name, c.target, f.String())
	}
	return c.target, nil
}

// A quantum is the value of --quantize, 0 for counts as they are.
type quantum int

func (q *quantum) addFlag(cmd *cobra.Command) {
	cmd.Flags().Var(q, "quantize", "round counts to that many significant bits, 1 to 64")
}

func (q *quantum) String() string { return strconv.Itoa(int(*q)) }

func (q *quantum) Set(text string) error {
	bits, err := strconv.Atoi(text)
	if err != nil || bits < 1 || bits > 64 {
		return errors.New("want 1 to 64")
	}
	*q = quantum(bits)
	return nil
}

func (q *quantum) Type() string { return "BITS" }

// summaryFlags say which summary slices for GCC 16 and for clang have.
type summaryFlags struct {
	file  string
	exact bool
	clang bool // slices are for clang
}

func (s *summaryFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.file, "summary", "", "profile whose summary slices for GCC 16 and clang have")
	f.BoolVar(&s.exact, "exact-summary", false, "slices for GCC 16 and clang have the summary as it is, not rounded to powers of two")
	cmd.MarkFlagsMutuallyExclusive("summary", "exact-summary")
}

// apply gives a program the summary that its slices have.
func (s *summaryFlags) apply(program *slice.Program, target slice.Target) (*slice.Program, error) {
	if target == slice.Version2 && !s.clang || s.exact {
		return program, nil
	}
	read := program.Summary
	if s.file != "" {
		read = func() (*afdo.Summary, error) { return driver.ReadSummary(s.file) }
	}
	summary, err := read()
	if err != nil {
		return nil, err
	}
	if s.clang {
		return program.WithSummary(slice.SteadyForClang(summary)), nil
	}
	return program.WithSummary(slice.Steady(summary)), nil
}
