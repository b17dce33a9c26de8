// Command afdo-beam merges the profiles of a fleet on Apache Beam.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/go-afdo/afdo/fleet/beam/fleetmerge"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/cli/weighing"
	"github.com/go-afdo/afdo/internal/fleet"
)

const mergeHelp = `Write the sum of GCOV profiles as a version 4 file: the bytes that afdo merge
--keep-going writes, on as many machines as the runner has. Paths are local ones,
which all workers have to see, file://, gs:// or s3://.

--input GLOB stands for files, each a host by itself, and --input-list LIST for the
inputs that a file on this machine names, one a line. ` + weighing.Help + `

Inputs that cannot be read, or are profiles of another kind, are left out and
named in the file of --dead-letters, each with what is wrong. The exit status is 3
if there are any. If no input is left, the pipeline fails.

` + trim.Help + `

The rest are flags of Beam: --runner and what belongs to it.`

func main() {
	work(context.Background(), os.Args[1:])
	beam.Init()
	os.Exit(run(context.Background(), os.Args[1:], os.Stderr))
}

// run runs the command afdo-beam with the given arguments and returns the exit status.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	root := &cobra.Command{Use: "afdo-beam", Short: "Merge the profiles of a fleet on Apache Beam", SilenceErrors: true, SilenceUsage: true}
	status := cli.StatusUsage // until the command line has turned out to be valid
	root.AddCommand(newMergeCommand(ctx, stderr, &status))
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(stderr, "afdo-beam: %s\n", cli.Message(err))
	} else if status == cli.StatusUsage {
		status = cli.StatusDone
	}
	return status
}

// newMergeCommand returns the command "afdo-beam merge". The command sets status to the exit
// status.
func newMergeCommand(ctx context.Context, stderr io.Writer, status *int) *cobra.Command {
	var m merging
	cmd := &cobra.Command{
		Use:   "merge --input GLOB --output OUT",
		Short: "Write the sum of profiles",
		Long:  mergeHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(m.globs)+len(m.lists) == 0 || m.output.Path == "" {
				return errors.New("want --output, and --input or --input-list")
			}
			*status = cli.StatusFault
			options, err := m.options(cmd)
			if err != nil {
				return err
			}
			skipped, err := m.within(ctx, options, stderr)
			if err == nil && skipped {
				*status = cli.StatusPartial
			} else if err == nil {
				*status = cli.StatusDone
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&m.globs, "input", nil, "files to merge, as in 'gs://bucket/today/*.afdo'")
	f.StringArrayVar(&m.lists, "input-list", nil, "file that names inputs, one a line")
	f.StringVar(&m.output.Path, "output", "", "file to write")
	f.BoolVar(&m.output.Compact, "compact", false, "write compact encoding")
	f.Uint64Var(&m.output.ShardBytes, "shard-bytes", fleetmerge.DefaultShardBytes, "size of the parts in which the file is written")
	f.StringVar(&m.deadLetters, "dead-letters", "", "file for the names of the inputs that cannot be read; OUT.skipped if not given")
	f.DurationVar(&m.timeout, "timeout", 6*time.Hour, "how long the pipeline may take, 0 for ever")
	m.weighing.AddTo(cmd)
	m.trim.AddTo(cmd)
	f.AddGoFlagSet(flag.CommandLine)
	return cmd
}

// A merging has the flags of the command "afdo-beam merge".
type merging struct {
	globs, lists []string
	output       fleetmerge.Output
	deadLetters  string
	timeout      time.Duration
	weighing     weighing.Flags
	trim         trim.Flags
}

// within runs the pipeline, and cancels it after the timeout that the command line gives. Some
// runners wait forever for a worker that cannot start. skipped reports whether inputs were skipped.
func (m *merging) within(ctx context.Context, o fleetmerge.Options, stderr io.Writer) (skipped bool, err error) {
	if m.timeout <= 0 {
		return merge(ctx, o, stderr)
	}
	late := fmt.Errorf("the pipeline is not done after %v (--timeout): can its workers start? The log of the runner tells", m.timeout)
	// Do not set a deadline on the context: Beam would pass it to the runner, which might notice it
	// first.
	ctx, cancel := context.WithCancelCause(ctx)
	defer time.AfterFunc(m.timeout, func() { cancel(late) }).Stop()
	skipped, err = merge(ctx, o, stderr)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return skipped, err
}

// options returns the options of the pipeline that the flags describe.
func (m *merging) options(cmd *cobra.Command) (fleetmerge.Options, error) {
	o := fleetmerge.Options{Rules: m.weighing.Rules, Output: m.output, DeadLetters: local(m.deadLetters)}
	o.Output.Path = local(o.Output.Path)
	for _, glob := range m.globs {
		o.Globs = append(o.Globs, local(glob))
	}
	for _, path := range m.lists {
		file, err := os.Open(path)
		if err != nil {
			return o, err
		}
		inputs, err := fleet.ReadList(path, file, o.Rules.AsOf)
		file.Close()
		if err != nil {
			return o, err
		}
		for _, in := range inputs {
			in.Path = local(in.Path)
			o.List = append(o.List, in)
		}
	}
	o.DeadLetters = cmp.Or(o.DeadLetters, o.Output.Path+".skipped")
	var trimming cobra.Command
	new(trim.Flags).AddTo(&trimming)
	trimming.Flags().VisitAll(func(f *pflag.Flag) {
		if given := cmd.Flags().Lookup(f.Name); given.Changed {
			o.Trim = append(o.Trim, "--"+f.Name+"="+given.Value.String())
		}
	})
	return o, nil
}

// local converts a file:// URL to a path, because Beam's file systems do not support such URLs. It
// returns other paths unchanged.
func local(path string) string {
	if rest, ok := strings.CutPrefix(path, "file:///"); ok {
		return "/" + rest
	}
	return path
}

// merge runs the pipeline that merges the profiles. It reports whether inputs were skipped because
// they could not be read.
func merge(ctx context.Context, o fleetmerge.Options, stderr io.Writer) (skipped bool, err error) {
	if err := workersAreThis(); err != nil {
		return false, err
	}
	pipeline, scope := beam.NewPipelineWithRoot()
	if err := fleetmerge.Merge(scope, o); err != nil {
		return false, err
	}
	result, err := beamx.RunWithMetrics(ctx, pipeline)
	if err != nil {
		return false, err
	}
	if result != nil && fleetmerge.ForgotSources(result.Metrics()) {
		fmt.Fprintln(stderr, "afdo-beam: what the inputs remember of their sources and their counts of machine code are left out: \"afdo rebase\" of the result needs --old-source")
	}
	fs, err := filesystem.New(ctx, o.DeadLetters)
	if err != nil {
		return false, err
	}
	defer fs.Close()
	if letters, err := fs.List(ctx, o.DeadLetters); err != nil || len(letters) == 0 {
		return false, err
	}
	fmt.Fprintf(stderr, "afdo-beam: inputs were skipped: see %s\n", o.DeadLetters)
	return true, nil
}
