package memprofkind

import (
	"io"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
)

// Convert writes a file as memprof or as YAML. The YAML of an indexed profile equals
// llvm-profdata's, byte for byte.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if err := refuseTrimming(t); err != nil {
		return err
	}
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	l, err := load(f)
	if err != nil {
		return err
	}
	src, _, err := k.source(e, l)
	if err != nil {
		return err
	}
	if l.functions > 0 {
		e.Warnf("%s does not store everything: functions with counters that were left out: %d", out.Format.Name, l.functions)
	}
	if l.reader != nil && out.Format.Name == formatYAML {
		return writeYAML(e, out, src)
	}
	p := new(memprof.Profile)
	if err := p.Merge(src, 1); err != nil {
		return err
	}
	return k.write(e, out, p, l.ids)
}

func refuseTrimming(t *trim.Flags) error {
	if t.Any() {
		return cli.Usagef("flags that trim are for profiles of samples, not for memory profiles")
	}
	return nil
}

func writeYAML(e *cli.Env, out kind.Output, src memprof.Source) error {
	return output.Write(e.Out, out.Path, func(w io.Writer) error { return memprof.WriteYAML(w, src) })
}

// write writes a profile and says what the version of the section has no room for.
func (k *Kind) write(e *cli.Env, out kind.Output, p *memprof.Profile, ids []instrprof.BinaryID) error {
	if out.Format.Name == formatYAML {
		return writeYAML(e, out, p)
	}
	version := k.version
	if version == 0 {
		version = kind.MemoryVersion(p)
	}
	section, err := p.Section(version)
	if err != nil {
		return err
	}
	file := instrprof.Profile{BinaryIDs: slices.Clone(ids)}
	err = output.Write(e.Out, out.Path, func(w io.Writer) error {
		return file.WriteIndexed(w, instrprof.IndexedOptions{Version: k.indexed(), MemProf: section})
	})
	if err != nil {
		return err
	}
	losses := p.Losses(version)
	if losses.Callees > 0 {
		e.Warnf("version %d has no callees: calls without theirs: %d", version, losses.Callees)
	}
	if losses.DataAccess > 0 {
		e.Warnf("version %d has no data access profile: entries left out: %d", version, losses.DataAccess)
	}
	return nil
}
