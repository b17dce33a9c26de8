package main

import (
	"encoding/binary"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/output"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// outputFlags say where a profile goes and in which format.
type outputFlags struct {
	path      string
	format    gcovkind.Format
	bigEndian bool
	index     bool
}

// addFlags gives a verb the flags -o, --to, --index and --big-endian.
func (o *outputFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.path, "output", "o", cli.Stdio, `file to write, "-" for standard output`)
	f.Var(&o.format, "to", "format to write: v4, v4c, v3, v2 or text")
	f.BoolVar(&o.bigEndian, "big-endian", false, "write v2 or v3 in big-endian byte order")
	f.BoolVar(&o.index, "index", false, `write v4 or v4c with an index, see "afdo help index"`)
	_ = cmd.MarkFlagRequired("to")
	_ = cmd.RegisterFlagCompletionFunc("to", gcovkind.CompleteFormats)
}

// check refuses what makes no sense before any work is done.
func (o *outputFlags) check(e *env) error {
	if o.bigEndian && !o.format.Old() {
		return cli.Usagef("--big-endian is for v2 and v3: %s has one byte order", o.format)
	}
	if o.index && !o.format.V4() {
		return cli.Usagef("--index is for v4 and v4c: %s has no place for one", o.format)
	}
	if o.format != gcovkind.Text && o.onTerminal(e) {
		return cli.Usagef("%s is not for a terminal: use -o FILE", o.format)
	}
	return nil
}

// onTerminal tells whether what is written appears on a terminal.
func (o *outputFlags) onTerminal(e *env) bool { return o.path == cli.Stdio && cli.IsTerminal(e.Out) }

// writeProfile writes a profile and says on standard error what the format could not hold.
func (e *env) writeProfile(o outputFlags, p *profile.Profile) error {
	var losses gcov.Losses
	err := output.Write(e.Out, o.path, func(w io.Writer) (err error) {
		losses, err = encode(w, o, p)
		return err
	})
	if text := losses.String(); err == nil && text != "" {
		e.Warnf("%s cannot hold everything: %s", o.format, text)
	}
	return err
}

func encode(w io.Writer, o outputFlags, p *profile.Profile) (gcov.Losses, error) {
	old := gcov.WriteOptions{Version: 3, ByteOrder: binary.LittleEndian}
	if o.bigEndian {
		old.ByteOrder = binary.BigEndian
	}
	switch o.format {
	case gcovkind.V4, gcovkind.V4Compact:
		return gcov.Losses{}, encodeV4(w, o, p)
	case gcovkind.V2:
		old.Version = 2
		return gcov.Write(w, p, old)
	case gcovkind.V3:
		return gcov.Write(w, p, old)
	default:
		return gcov.Losses{}, textfmt.PrintProfile(w, p)
	}
}

func encodeV4(w io.Writer, o outputFlags, p *profile.Profile) error {
	options := builder.Options{Compact: o.format == gcovkind.V4Compact}
	if o.index {
		options.Index = newIndexOptions()
		if err := addFingerprints(options.Index, p); err != nil {
			return err
		}
	}
	return builder.Write(w, p, options)
}
