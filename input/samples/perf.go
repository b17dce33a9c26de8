package samples

import (
	"cmp"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/saturating"
)

// maxRange is the length in bytes of the longest accepted range between two taken branches. Longer
// ones are counted in Report.Bogus.
const maxRange = 1 << 20

// maxTwin is the distance in bytes by which isTwin distinguishes loops from duplicates. Some
// processors record the newest entry of a branch stack twice. Two equal entries that jump back by
// at most maxTwin bytes are taken for a short loop, all others for a duplicate.
const maxTwin = 0x1000

// largestThread is the number of the last thread that Linux starts, 4194304, read as hexadecimal
// digits. A recording whose addresses are all below has numbers of threads in their place.
const largestThread = 0x4194304

// readPerfData collects the samples of the binary from a perf.data file.
func readPerfData(src io.Reader, c choice) (*Set, *Report, error) {
	r, err := perfdata.NewReader(src)
	if err != nil {
		return nil, nil, err
	}
	return collectPerfData(r, c)
}

// readPerfFolder collects the samples of the binary from a folder that perf record --threads has
// written.
func readPerfFolder(dir fs.FS, c choice) (*Set, *Report, error) {
	r, err := perfdata.OpenFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	return collectPerfData(r, c)
}

func collectPerfData(r *perfdata.Reader, c choice) (*Set, *Report, error) {
	p := newPerfCollector(c, PerfData)
	for _, b := range r.BuildIDs() {
		p.maps.buildIDs[b.Path] = append(p.maps.buildIDs[b.Path], b.ID)
	}
	p.events = r.Events
	if err := p.collect(r.Ordered()); err != nil {
		return nil, nil, err
	}
	set, report, err := p.finish()
	report.trace = r.Trace()
	return set, report, err
}

// readPerfScript collects the samples of the binary from the text that perf script prints.
func readPerfScript(in *input, c choice) (*Set, *Report, error) {
	p := newPerfCollector(c, PerfScript)
	r := perfdata.NewScriptReader(in)
	if c.binary.machine == elf.EM_AARCH64 {
		r.Damaged = func(err error) bool {
			p.report.Samples++
			p.damage(err)
			return true
		}
	}
	if err := p.collect(r.Records()); err != nil {
		return nil, nil, err
	}
	if err := p.checkDamage(); err != nil {
		return nil, nil, err
	}
	return p.finish()
}

// A perfCollector adds up the records of perf.data or perf script to a Set and a Report for each
// event of the recording.
type perfCollector struct {
	*eventSamples // of the current sample
	maps          *perfMaps

	events    func() []*perfdata.Event // nil for perf script
	collected []*eventSamples          // of all events, in the order of the recording
	byEvent   []*eventSamples          // by number of the event, of perf.data
	byName    map[string]*eventSamples // of perf script
	lost      uint64
	told      Report // its Effort is the sum of the statistics of all recorders by steps

	damaged error  // the first damaged line
	spe     uint64 // samples of Arm's SPE

	offsets bool // call chains of the text are file offsets, not addresses
	kept    []perfdata.Branch
}

// A link is a taken branch together with the range of code that ran after it: from the branch's
// target to the source of the next newer branch of the stack. Counting links takes half the time of
// counting ranges and branches separately, because stacks repeat the same few links.
type link struct {
	from, to, end uint64
	inside        bool // from is in the binary
}

// addLinks adds the counted links of branch stacks to the event's Set. Each link is a range of code
// and, before it, a branch within the binary or from another file into it.
func (c *eventSamples) addLinks() {
	for l, n := range c.links {
		c.set.Ranges.Add(Range{l.to, l.end}, n)
		c.set.addBranch(place{l.inside, l.from}, place{true, l.to}, n)
	}
	c.links = nil
}

func newPerfCollector(c choice, format Format) *perfCollector {
	p := &perfCollector{maps: newPerfMaps(c), byName: make(map[string]*eventSamples)}
	p.eventSamples = newEventSamples("", format, &c.options)
	if format == PerfScript {
		p.maps.everywhere = new(space)
	}
	if c.options.HasBase {
		p.maps.everywhere = new(space)
		p.place(c.options.Base)
	}
	return p
}

// collect processes all records of a recording in the given order.
func (p *perfCollector) collect(records iter.Seq2[perfdata.Record, error]) error {
	for record, err := range records {
		if err == nil {
			err = p.take(record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *perfCollector) take(record perfdata.Record) error {
	switch r := record.(type) {
	case *perfdata.Sample:
		p.sample(r)
	case *perfdata.Mmap:
		if !p.maps.choice.options.HasBase {
			return p.maps.add(r)
		}
	case *perfdata.Comm:
		if figures, ok := strings.CutPrefix(r.Name, perfdata.StepsReport); ok {
			var one Report
			if json.Unmarshal([]byte(figures), &one.Effort) == nil { // else it is a name after all
				p.told.Add(&one)
			}
		}
		p.maps.exec(r)
	case *perfdata.Fork:
		return p.maps.fork(r)
	case *perfdata.Lost:
		p.lost = saturating.Add(p.lost, r.Count)
	}
	return nil
}

// sample counts a sample for its event, and adds its address, branch stack or call chain to the
// event's Set.
func (p *perfCollector) sample(s *perfdata.Sample) {
	if pid := p.maps.choice.options.PID; pid != 0 && pid != s.PID && (s.PID != perfdata.UnknownPID || pid != s.TID) {
		return
	}
	p.eventSamples = p.samplesOf(s)
	p.report.Samples++
	p.report.addressed = p.report.addressed || s.IP > largestThread || len(s.Stack) > 0 || len(s.Branches) > 0
	if !p.used {
		return
	}
	p.noteBurst(s)
	if len(s.Branches) > 0 && !p.callStack {
		p.report.Stacks++
		p.report.Branches += uint64(len(s.Branches))
	}
	if p.isSPE(s.Branches) {
		if p.spe++; s.IP != s.Branches[0].From {
			p.damage(faultAt(PerfScript.String(), -1, fault.ErrSyntax, "a sample at %#x of a branch at %#x", s.IP, s.Branches[0].From))
			return
		}
	}
	if s.Mode.Guest() {
		p.count(p.maps.unmapped).samples++
		return
	}
	if p.maps.everywhere != nil && !p.maps.seen && p.maps.choice.binary.kind == elf.ET_EXEC {
		p.place(0)
	}
	process := p.maps.process(s.PID, s.TID)
	inside := p.address(s, process)
	within := inside
	switch {
	case len(s.Branches) == 0:
		p.chain(s, process)
	case p.callStack:
		p.recordedCalls(s, process)
	default:
		within = p.branches(s, process) || within
	}
	if inside {
		p.report.InBinary++
	}
	if within {
		p.noteWithin()
	}
}

// address adds the sampled address of s to the Set, if the address is in the code of the binary. It
// reports whether the address is in a mapping of the binary. process has the mappings of the
// sample's process.
func (p *perfCollector) address(s *perfdata.Sample, process *space) bool {
	at := p.maps.find(process, s.IP)
	if len(s.Stack) > 0 && s.Object != "" && s.Object != unknownName && !isKernelName(s.Object) {
		if p.offsets = p.offsets || at == nil || at.object.Name != s.Object; p.offsets {
			at = &mapping{object: p.maps.object(s.Object, "")}
		}
	}
	if at == nil {
		p.count(p.maps.unmapped).samples++
		return false
	}
	p.count(at.object).samples++
	if !at.object.Ours {
		return false
	}
	offset, ok := p.maps.offset(at, s.IP)
	if !ok {
		p.report.Outside++
		return true
	}
	p.set.Addresses.Add(offset, 1)
	p.set.addTime(offset, s.Time)
	p.set.addName(offset, s.Symbol)
	return true
}

// place adds the mappings of the binary's code, for a recording that contains no mappings. The code
// was loaded base bytes above the addresses that the linker assigned.
func (p *perfCollector) place(base uint64) {
	b := p.maps.choice.binary
	ours := p.maps.objects[objectKey{b.Path, b.BuildID}]
	if ours == nil {
		ours = p.maps.newObject(objectKey{b.Path, b.BuildID}, true)
	}
	for _, s := range b.Layout.code {
		start := s.Address + base
		p.maps.everywhere.insert(mapping{start: start, end: start + s.Size, delta: s.Offset - start, object: ours, file: ours})
	}
	p.maps.seen = true
}

// ours converts an address of a process to a place: the file offset in the binary, and whether the
// address is in the binary.
func (p *perfCollector) ours(process *space, address uint64) place {
	return p.placeIn(p.maps.find(process, address), address)
}

// placeIn converts an address in the mapping at to a place: the file offset in the binary, and
// whether the address is in the binary. at is nil for an address outside of all mappings.
func (p *perfCollector) placeIn(at *mapping, address uint64) place {
	if at == nil || !at.object.Ours {
		return place{}
	}
	offset, ok := p.maps.offset(at, address)
	return place{ok, offset}
}

// branches adds the branch stack of a sample to the Set: its branches, and the ranges between the
// target of a branch and the source of the next newer branch. The newest entry of the stack comes
// first. The rules are those of google/autofdo, with two differences: an entry on a mispredicted
// path is ignored entirely, and both ends of a range must be in one mapping. branches reports
// whether a branch leads into the binary.
func (p *perfCollector) branches(s *perfdata.Sample, process *space) (within bool) {
	stack := p.rightPath(s.Branches)
	if len(stack) == 0 {
		return false
	}
	if p.report.Filter != "" {
		if s.IP == stack[0].From || s.IP == stack[0].To {
			p.report.AtBranch++
		}
		return p.filtered(stack, process)
	}
	from, to := p.ours(process, stack[0].From), p.target(process, stack[0].To)
	within = to.inside
	p.copied(stack[0], to)
	if p.isSPE(stack) {
		p.landed(stack[0], from, to)
		return within
	}
	if p.maps.choice.options.Contexts && len(s.Stack) > 0 {
		p.trace(s, stack, process)
	}
	if from.inside && to.inside {
		p.set.Branches.Add(Branch{from.offset, to.offset}, 1)
	}
	for i, b := range stack[1:] {
		newer := from
		from, to = p.ours(process, b.From), p.target(process, b.To)
		if !to.inside {
			continue
		}
		within = true
		p.copied(b, to)
		if i == 0 && isTwin(b, stack[0]) && !s.Branches[0].Flags.WrongPath() && !s.Branches[1].Flags.WrongPath() {
			continue
		}
		if !newer.inside || newer.offset-to.offset != stack[i].From-b.To {
			continue
		}
		if newer.offset < to.offset || newer.offset-to.offset > maxRange {
			p.report.Bogus++
			continue
		}
		n := len(p.links)
		p.links[link{from.offset, to.offset, newer.offset, from.inside}]++
		if len(p.links) > n {
			p.set.addTime(to.offset, s.Time)
		}
	}
	return within
}

// copied checks whether the branch b is the return from a call of memcpy or memset whose size the
// recorder knows, to the place to. If it is, copied adds the size of the call to the Set.
func (p *perfCollector) copied(b perfdata.Branch, to place) {
	if size, ok := b.Flags.Copied(); ok && to.inside && p.steps {
		p.set.Sizes.Add(CallSize{to.offset, size}, 1)
	}
}

// target converts the target address of a branch to a file offset in the binary. It also counts the
// branch for the mapped file that contains the target.
func (p *perfCollector) target(process *space, address uint64) place {
	at := p.maps.find(process, address)
	if at != nil {
		p.count(at.object).branches++
	}
	return p.placeIn(at, address)
}

// filtered adds a branch stack for which perf has recorded only some kinds of branches, so that the
// code between two entries is unknown. If all calls were recorded, the entries are added to the Set
// as branches, which show how often functions were entered. filtered reports whether a branch leads
// into the binary.
func (p *perfCollector) filtered(stack []perfdata.Branch, process *space) (within bool) {
	for _, b := range stack {
		from, to := p.ours(process, b.From), p.target(process, b.To)
		within = within || to.inside
		if p.calls {
			p.set.addBranch(from, to, 1)
		}
	}
	return within
}

// recordedCalls adds the calls of a sample's call stack that the processor recorded, innermost
// first. The source of an entry is the address of the call instruction, not the address to which
// the call returns.
func (p *perfCollector) recordedCalls(s *perfdata.Sample, process *space) {
	in := p.ours(process, s.IP)
	if s.Mode == perfdata.ModeKernel {
		in = p.target(process, s.Branches[0].To)
	}
	for _, b := range s.Branches {
		from := p.ours(process, b.From)
		p.set.addCall(from, in, 1)
		in = from
	}
	p.report.Chains++
}

// isTwin reports whether the newest entry of a branch stack is a copy of the entry before it, which
// some processors record twice. Two equal entries of a short loop are not copies.
func isTwin(older, newest perfdata.Branch) bool {
	return older.From == newest.From && older.To == newest.To && older.From-older.To > maxTwin
}

// rightPath returns a branch stack without the branches on mispredicted paths. The processor has
// undone what these branches did.
func (p *perfCollector) rightPath(stack []perfdata.Branch) []perfdata.Branch {
	for i := range stack {
		if stack[i].Flags.WrongPath() {
			p.kept = slices.DeleteFunc(append(p.kept[:0], stack...), func(b perfdata.Branch) bool { return b.Flags.WrongPath() })
			return p.kept
		}
	}
	return stack
}

// A place is an address of a process converted to a file offset of the binary. inside is false if
// the address is not in the binary.
type place struct {
	inside bool
	offset uint64
}

// addCall adds n samples of a call to the Set. The samples were taken in the called function, at
// the place in, while the call at the place from had not returned.
func (s *Set) addCall(from, in place, n uint64) {
	switch {
	case !in.inside:
	case from.inside:
		s.Calls.Add(Call{from.offset, in.offset}, n)
	default:
		s.Calls.Add(Call{Elsewhere, in.offset}, n)
	}
}

// addBranch adds n executions of a branch to the Set: to its branches if the branch is within the
// binary, or to its entries if it leads into the binary.
func (s *Set) addBranch(from, to place, n uint64) {
	switch {
	case !to.inside:
	case from.inside:
		s.Branches.Add(Branch{from.offset, to.offset}, n)
	default:
		s.Entries.Add(to.offset, n)
	}
}

// maxContext is the smallest number in a call chain that is not an address but a mark for the kind
// of code that follows: PERF_CONTEXT_MAX in linux/perf_event.h.
const maxContext = 1<<64 - 4095

// chain adds the calls of a sample's call chain, innermost first, to the Set. Numbers from
// maxContext on are not addresses, but mark the kind of code that follows. The first address after
// such a mark is that of the instruction that ran. The other addresses are return addresses, so the
// byte before each of them is in the call instruction.
func (p *perfCollector) chain(s *perfdata.Sample, process *space) {
	known, calls := false, false
	var in place // the function that is called, if that is known
	for i, address := range s.Stack {
		if address >= maxContext {
			known = false
			continue
		}
		if known {
			address--
		}
		from := p.frame(s, i, process, address)
		if known {
			calls = true
			p.set.addCall(from, in, 1)
		}
		in, known = from, true
	}
	if calls {
		p.report.Chains++
	}
}

// frame converts an address of a sample's call chain to a file offset in the binary. i is the index
// of the address in the chain. If perf script has printed file offsets instead of addresses, the
// sample names the mapped file for each index.
func (p *perfCollector) frame(s *perfdata.Sample, i int, process *space, address uint64) place {
	if !p.offsets {
		return p.ours(process, address)
	}
	return place{p.maps.object(s.Objects[i], "").Ours, address}
}

// speCommand is the command that prints a recording of Arm's SPE as the text that readPerfScript
// needs.
const speCommand = "perf script --itrace=bl1 -F event,ip,brstack --show-mmap-events"

// maxDamaged is the largest accepted share of malformed samples in the text of an SPE recording.
// The malformed samples are left out.
const maxDamaged = 0.5

// isSPE reports whether a branch stack is a record of Arm's SPE. perf script shows such a record as
// a stack of one entry: a branch, taken or not, without a later branch that shows how far code ran.
func (p *perfCollector) isSPE(stack []perfdata.Branch) bool {
	return p.events == nil && p.maps.choice.binary.machine == elf.EM_AARCH64 && len(stack) == 1
}

// landed adds a branch b that Arm's SPE has recorded to the Set. from and to are the places of its
// source and target in the binary. The code at the target ran, even if the branch was not taken.
func (p *perfCollector) landed(b perfdata.Branch, from, to place) {
	if !to.inside {
		return
	}
	p.set.Landings.Add(to.offset, 1)
	if !b.Flags.NotTaken() {
		p.set.addBranch(from, to, 1)
	}
}

// damage counts a malformed sample of the recording. It keeps err if it is the first error about
// such a sample.
func (p *perfCollector) damage(err error) {
	p.damaged = cmp.Or(p.damaged, err)
	p.report.Damaged++
}

// checkDamage returns an error if samples of the recording were malformed. It tolerates a share of
// up to maxDamaged malformed samples in the text of an SPE recording.
func (p *perfCollector) checkDamage() error {
	damaged, all := p.report.Damaged, p.report.Samples
	switch {
	case damaged == 0:
		return nil
	case float64(damaged) > maxDamaged*float64(all):
		return fmt.Errorf("samples: %d of %d samples are damaged; if they are of SPE, print them with %s; the first: %w", damaged, all, speCommand, p.damaged)
	case p.spe == 0:
		return p.damaged
	}
	return nil
}
