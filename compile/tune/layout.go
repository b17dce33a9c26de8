package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/placed"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
)

// A Placement is the tool with which tune lays out the program's code, that is, orders its
// functions and blocks.
type Placement string

// These are the tools that lay out code.
const (
	ByClang Placement = "clang" // clang and lld take a list of blocks and functions
	ByBOLT  Placement = "bolt"  // llvm-bolt rewrites the linked program
)

// errNoLayout is wrapped by the error for a build whose code no tool on this machine can lay out.
var errNoLayout = errors.New("the code of this build cannot be laid out here")

// These are names of files and folders in the working folder.
const (
	mappedName = "mapped"            // copy of the tree, built with a map of block addresses or with relocations
	placedName = "laid"              // copy of the tree, built with the layout
	againName  = "layout-recordings" // recordings of the build in mappedName
	prefixName = "layout"            // prefix of the files for clang and lld
	boltedName = "bolted"            // the program that llvm-bolt wrote
	countsName = "layout.fdata"      // counts for llvm-bolt
)

// bolts are the program names of llvm-bolt, the newest first.
var bolts = []string{"llvm-bolt", "llvm-bolt-23", "llvm-bolt-22", "llvm-bolt-21", "llvm-bolt-20", "llvm-bolt-19"}

// A placer lays out the code of a program: it chooses clang or llvm-bolt for that, and runs the
// tool.
type placer struct {
	*tuning
	on     Try // the best build so far, whose profile and options the new build gets
	by     Placement
	bolt   string // path of llvm-bolt
	hashes bool   // the compilers can write hashes of blocks
	mapped string // path of the copy of the tree that is built for the recording
}

// placer returns a placer for the build. It chooses clang if clang compiled the whole program and
// lld can link it, and otherwise llvm-bolt. If neither is possible, the error is errNoLayout.
func (t *tuning) placer() (*placer, error) {
	p := &placer{tuning: t, mapped: t.in(mappedName)}
	names, err := t.built()
	if err != nil {
		return nil, err
	}
	whyNot := ""
	p.hashes = true
	for _, name := range names {
		hashes, why := t.clangWithLayouts(t.compilers[name])
		whyNot = cmp.Or(whyNot, why)
		p.hashes = p.hashes && hashes
	}
	if whyNot == "" && len(names) > 0 {
		p.by = ByClang
		return p, nil
	}
	for _, name := range bolts {
		if p.bolt, err = exec.LookPath(name); err == nil {
			p.by = ByBOLT
			return p, nil
		}
	}
	return nil, fmt.Errorf("tune: %w: %s, and llvm-bolt is not installed (Debian has it in bolt-19 and bolt-22)", errNoLayout, whyNot)
}

// clangWithLayouts returns why the compiler at a path cannot lay out code, or "" if it is a clang
// that can and that finds lld. hashes reports whether that clang can write hashes of blocks.
func (t *tuning) clangWithLayouts(path string) (hashes bool, why string) {
	c, err := toolchain.Find(context.Background(), command.Parse([]string{path}, "/"), nil)
	if err != nil || !c.Clang {
		return false, filepath.Base(path) + " is not clang"
	}
	if !c.IsSince(placed.FirstWithMap) {
		return false, fmt.Sprintf("%s is clang %s, older than %d", filepath.Base(path), c.Version, placed.FirstWithMap)
	}
	cmd := exec.Command(path, "-print-prog-name=ld.lld")
	cmd.Env = t.env
	out, err := cmd.Output()
	if err == nil {
		_, err = exec.LookPath(strings.TrimSpace(string(out)))
	}
	if err != nil {
		return false, fmt.Sprintf("lld is not installed beside %s", filepath.Base(path))
	}
	return placed.WritesHashes(c), ""
}

// place lays out the program's code in four steps. It builds the program in the best way so far,
// with a map of its blocks. It records that program, makes the layout from the recordings, and
// builds the program with the layout. The caller measures the result.
func (t *tuning) place(ctx context.Context, r *Result) (*Try, error) {
	p, err := t.placer()
	if err != nil {
		return nil, err
	}
	p.on = r.Try
	try := Try{Way: WithLayout.on(r.Way), Exec: r.Exec, Profile: r.Profile, LeftOut: r.LeftOut, Folder: t.in(placedName), Placement: p.by}
	t.logf("# the code is laid out by %s", p.by)
	t.key = keyOf(t.key, string(p.by), p.bolt, try.Way)
	if err := t.step(buildingForLayout, func() error { return t.build(ctx, p.mapped, p.mapping()) }); err != nil {
		return nil, err
	}
	if err := t.step(trainingForLayout, func() error { return t.trainUnder(ctx, r.Recorder, p.mapped, t.in(againName)) }); err != nil {
		return nil, err
	}
	program, recordings, err := p.hottest(r)
	if err != nil {
		return nil, err
	}
	if err := t.step(layingOut, func() error { return p.layOut(ctx, program, recordings) }); err != nil {
		return nil, err
	}
	if err := t.step(buildingPlaced, func() error { return p.build(ctx, program) }); err != nil {
		return nil, err
	}
	if p.by == ByClang {
		try.Layout = t.in(prefixName)
	}
	return &try, nil
}

// mapping returns the variant of the build that is recorded for the layout. It has a map of block
// addresses for clang, or relocations for llvm-bolt.
func (p *placer) mapping() variant {
	v := variant{profile: p.on.Profile, exec: p.on.Exec}
	if p.by == ByBOLT {
		v.flags, v.gccFlags = []string{"-Wl,-q"}, []string{"-fno-reorder-blocks-and-partition"}
		return v
	}
	v.flags = []string{useLLD, "-fbasic-block-address-map"}
	if p.hashes {
		v.flags = append(v.flags[:1], placed.HashFlags...)
	}
	return v
}

// useLLD is clang's option to link with lld.
const useLLD = "-fuse-ld=lld"

// hottest returns the program or library of the build with the most samples, and the recordings
// with samples of it. Only this program is laid out, because a layout list, or a run of llvm-bolt,
// is about one program.
func (p *placer) hottest(r *Result) (program string, recordings []string, err error) {
	ran, of, err := ranIn(p.in(againName), filepath.Join(p.mapped, r.Programs[0]))
	if err != nil {
		return "", nil, err
	}
	samples := func(program string) uint64 { return ran[filepath.Join(p.mapped, program)] }
	program = slices.MaxFunc(r.Programs, func(a, b string) int {
		return cmp.Compare(samples(a), samples(b))
	})
	if samples(program) == 0 {
		return "", nil, errors.New("tune: the training for the layout has no samples of the build's programs")
	}
	if len(r.Programs) > 1 {
		p.note("only %s is laid out: it has the most samples", program)
	}
	return program, of[filepath.Join(p.mapped, program)], nil
}

// layOut makes the layout from recordings of a program: it writes the list for clang and lld, or
// runs llvm-bolt, which writes a new program.
func (p *placer) layOut(ctx context.Context, program string, recordings []string) error {
	binary := filepath.Join(p.mapped, program)
	argv := []string{p.Afdo, "layout", "--binary", binary, "-o", p.in(prefixName)}
	if p.by == ByBOLT {
		argv = []string{p.Afdo, "create", "--to", "fdata", "--binary", binary, "-o", p.in(countsName)}
	}
	for _, recording := range recordings {
		argv = append(argv, "--profile", recording)
	}
	if _, err := p.do(ctx, task{argv: argv, dir: p.Folder}); err != nil || p.by == ByClang {
		return err
	}
	_, err := p.do(ctx, task{dir: p.Folder, argv: []string{
		p.bolt, binary, "-o", p.in(boltedName), "-data", p.in(countsName),
		"-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions", "-split-all-cold", "-split-eh",
	}})
	return err
}

// build builds the copy of the tree with the laid out program: with clang's list, or by replacing
// the program by the one that llvm-bolt wrote.
func (p *placer) build(ctx context.Context, program string) error {
	placed := p.in(placedName)
	if p.by == ByClang {
		prefix := p.in(prefixName)
		order := "-Wl,--symbol-ordering-file=" + prefix + "_ld_profile.txt,--no-warn-symbol-ordering"
		return p.tuning.build(ctx, placed, variant{profile: p.on.Profile, exec: p.on.Exec, layout: prefix, flags: []string{order, useLLD}})
	}
	if err := copyTree(p.mapped, nil, placed); err != nil {
		return err
	}
	target := filepath.Join(placed, program)
	if err := os.Remove(target); err != nil {
		return err
	}
	return os.Rename(p.in(boltedName), target)
}
