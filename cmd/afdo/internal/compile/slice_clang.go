package compile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/command"
)

// sliceForClang writes slices of a profile for clang, as they are taken: extbinary of extbinary,
// profdata of profdata.
func sliceForClang(e *verb.Env, path string, all *buildSlices, s *slicing, out verb.Output) error {
	if name := out.Out.Format.Name; name != "extbinary" && name != "profdata" {
		return cli.Usagef("--to %s: a slice is a GCOV profile, extbinary or profdata", name)
	}
	switch {
	case s.bits != 0:
		return cli.Usagef("--quantize is for GCOV profiles")
	case s.compiler.name != "":
		return cli.Usagef("--for is for GCOV profiles")
	case all.enabled:
		if err := all.check(s, out); err != nil {
			return err
		}
		return cutAll(e, path, all, func(work func(cutter) error) error {
			return withClangProfile(path, &s.summary, out, func(p *driver.LLVMProfile) error { return work(&clangCutter{p, path}) })
		})
	case all.dir != "" || all.database != "":
		return cli.Usagef("-d and --compile-commands go with --all")
	case len(s.units) == 0 || len(s.deps) == 0:
		return cli.Usagef("a profile for clang knows no files: name the source with --unit and what it includes with --deps, or use --all")
	}
	files, err := readDepfiles(s.deps)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	text := driver.ReadText(slices.Concat(files, s.units), dir)
	return withClangProfile(path, &s.summary, out, func(p *driver.LLVMProfile) error {
		return output.Write(e.Out, out.Path, func(w io.Writer) error {
			n, err := p.WriteSlice(w, text, s.units)
			if err == nil && n == 0 {
				e.Warnf("the profile has nothing of %s", printableList(s.units))
			}
			return err
		})
	})
}

// withClangProfile opens a profile that is in the format that is asked for.
func withClangProfile(path string, summary *summaryFlags, out verb.Output, use func(*driver.LLVMProfile) error) error {
	p, err := driver.OpenLLVMProfile(path)
	if err != nil {
		return input.Wrap(path, err)
	}
	defer p.Close()
	if format := p.Format(); format != out.Out.Format.Name {
		return cli.Usagef("--to %s: slices of %s are %s", out.Out.Format.Name, filepath.Base(path), format)
	}
	if !summary.exact {
		if err := p.RoundSummary(summary.file); err != nil {
			return input.Wrap(path, err)
		}
	}
	return input.Wrap(path, use(p))
}

// A clangCutter takes slices for clang.
type clangCutter struct {
	profile *driver.LLVMProfile
	path    string
}

func (c *clangCutter) cut(text *slice.Text, _ *driver.Inputs, command *command.Line) (data []byte, any bool, err error) {
	var file bytes.Buffer
	n, err := c.profile.WriteSlice(&file, text, command.Sources)
	return file.Bytes(), n > 0, err
}

func (c *clangCutter) whole() ([]byte, error) { return os.ReadFile(c.path) }
