package samples

import (
	"debug/elf"
	"fmt"

	"github.com/go-afdo/afdo/perfdata"
)

// speCommand makes text of what Arm's SPE has recorded.
const speCommand = "perf script --itrace=bl1 -F ip,brstack --show-mmap-events"

// maxDamaged is the largest share of damaged samples with which the text of an SPE recording is
// used. The damaged samples are ignored.
const maxDamaged = 0.5

// isSPE reports whether a branch stack is a record of Arm's SPE. perf script shows such a record as
// a stack of one entry: a branch, taken or not, without a later branch that shows how far code ran.
func (p *perfCollector) isSPE(stack []perfdata.Branch) bool {
	return p.events == nil && p.maps.choice.binary.machine == elf.EM_AARCH64 && len(stack) == 1
}

// landed adds a record of SPE.
func (p *perfCollector) landed(b perfdata.Branch, from, to place) {
	if !to.inside {
		return
	}
	p.set.AddLanding(to.offset, 1)
	switch {
	case b.Flags.NotTaken():
	case from.inside:
		p.set.AddBranch(Branch{from.offset, to.offset}, 1)
	default:
		p.set.AddEntry(to.offset, 1)
	}
}

// damage counts a damaged sample.
func (p *perfCollector) damage(err error) {
	if p.damaged == nil {
		p.damaged = err
	}
	p.report.Damaged++
}

// checkDamage refuses a text that has damaged samples, unless it is of SPE and few are damaged.
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
