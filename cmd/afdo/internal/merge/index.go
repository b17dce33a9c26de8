package merge

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile/index"
)

const indexHelp = `Add an index to FILE, a profile of version 4, or renew it: a section at the end that
other readers skip. With it, lookups of units and symbols do not scan the file,
"afdo slice" and "afdo exec" need not read all of the profile, and checksums detect
changed bytes. docs/reference/extensions.md has the details.

FILE is replaced as a whole or not at all, or left alone with -o. Everything
else in it stays as it is.

--without saves the bytes of some parts: "lookups" of units and symbols,
"inlining" of functions into others, "checksums" of sections, and "fingerprints"
of units, which "afdo fingerprint" tells as well.

If the file has checksums already, they are verified. If it was changed on purpose,
use --skip-checksums.`

// indexing contains the flags of the verb index.
type indexing struct {
	output        string
	strip         bool
	buildID       string
	without       []string
	skipChecksums bool
	json          bool
}

func NewIndex(e *verb.Env) *cobra.Command {
	var x indexing
	cmd := &cobra.Command{
		Use:   "index FILE [-o OUT]",
		Short: "Add, renew or remove the index of a version 4 file",
		Long:  indexHelp,
		Args:  verb.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			x.output = cmp.Or(x.output, args[0])
			if err := x.check(e); err != nil {
				return err
			}
			return e.TellWritten(x.json, x.output, func() error { return input.Wrap(args[0], runIndex(e, args[0], &x)) }, func(*verb.WrittenFacts) {})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&x.output, "output", "o", "", `file to write instead of FILE, "-" for standard output`)
	f.BoolVar(&x.strip, "strip", false, "remove the index")
	f.StringVar(&x.buildID, "build-id", "", "build ID of the program that was profiled, in hexadecimal digits; that of the old index if not given")
	f.StringSliceVar(&x.without, "without", nil, "leave out "+strings.Join(indexParts, ", ")+"; may be several")
	f.BoolVar(&x.skipChecksums, "skip-checksums", false, "do not compare the file with the checksums that it has")
	verb.AddWrittenFlag(cmd, &x.json)
	_ = cmd.RegisterFlagCompletionFunc("without", cobra.FixedCompletions(indexParts, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// indexParts are the words of --without: what the verb index can leave out of an index.
var indexParts = []string{"lookups", "inlining", "checksums", "fingerprints"}

func (x *indexing) check(e *verb.Env) error {
	for _, part := range x.without {
		if !slices.Contains(indexParts, part) {
			return cli.Usagef("--without %s: want %s", part, strings.Join(indexParts, ", "))
		}
	}
	if _, err := hex.DecodeString(x.buildID); err != nil {
		return cli.Usagef("--build-id %s: not hexadecimal digits", x.buildID)
	}
	if x.strip && (x.buildID != "" || len(x.without) > 0) {
		return cli.Usagef("--strip leaves nothing for --build-id and --without")
	}
	if x.output == cli.Stdio && cli.IsTerminal(e.Out) {
		return cli.Usagef("v4 is not for a terminal: use -o FILE")
	}
	return nil
}

// runIndex writes a file with a new index. It reads the whole input before it writes anything,
// because input and output may be the same file.
func runIndex(e *verb.Env, path string, x *indexing) error {
	doing := progress.Begin(e.Progress(), "indexing %s", human.Name(input.Name(path)))
	defer doing.Stop()
	var file bytes.Buffer
	if err := reindex(e, &file, path, x); err != nil {
		return err
	}
	return output.Write(e.Out, x.output, func(w io.Writer) error {
		_, err := file.WriteTo(w)
		return err
	})
}

func reindex(e *verb.Env, w io.Writer, path string, x *indexing) error {
	r, err := openToIndex(e, path, x.skipChecksums)
	if err != nil {
		return err
	}
	defer r.Close()
	if x.strip {
		return index.Write(w, r, nil)
	}
	o, err := x.options(r)
	if err != nil {
		return err
	}
	return index.Write(w, r, o)
}

func openToIndex(e *verb.Env, path string, skipChecksums bool) (*afdo.Reader, error) {
	f, k, err := e.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch {
	case f.Packed():
		return nil, errors.New("the file is compressed: unpack it first")
	case !gcovkind.IsV4(f.Format()) && verb.Can[kind.CanLoad](k):
		return nil, fmt.Errorf("only version 4 has an index: \"afdo convert %s --to v4c --index -o OUT\" makes a file with one", human.Name(input.Name(path)))
	case !gcovkind.IsV4(f.Format()):
		return nil, e.Kinds.Refuse("index", k, verb.IsGCOV)
	}
	data, err := f.ReadAll()
	if err != nil {
		return nil, err
	}
	options := []afdo.Option{afdo.MaxNameBytes(v4.MaxUnitNames(int64(len(data)), afdo.DefaultMaxNameBytes))}
	if skipChecksums {
		options = append(options, afdo.SkipChecksums())
	}
	return afdo.OpenBytes(data, options...)
}

// options returns the contents of the new index for the file of r, as the flags select them.
func (x *indexing) options(r *afdo.Reader) (*index.Options, error) {
	o, err := gcovkind.IndexOptionsOf(r)
	if err != nil {
		return nil, err
	}
	o.NoLookups = slices.Contains(x.without, "lookups")
	o.NoInlining = slices.Contains(x.without, "inlining")
	o.NoChecksums = slices.Contains(x.without, "checksums")
	o.BuildID, _ = hex.DecodeString(x.buildID)
	if old, err := index.Read(r); err == nil && x.buildID == "" {
		info, err := old.Info()
		if err != nil {
			return nil, err
		}
		o.BuildID = info.BuildID
	}
	if slices.Contains(x.without, "fingerprints") {
		o.Fingerprint = nil
	}
	return o, nil
}
