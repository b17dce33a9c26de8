package samples

import "github.com/go-afdo/afdo/perfdata"

// A place is the file offset of an address, if that is inside of the binary.
type place struct {
	inside bool
	offset uint64
}

// addCall adds n samples during a call.
func (s *Set) addCall(from, in place, n uint64) {
	switch {
	case !in.inside:
	case from.inside:
		s.AddCall(Call{from.offset, in.offset}, n)
	default:
		s.AddCall(Call{Elsewhere, in.offset}, n)
	}
}

// maxContext is the smallest number in a call chain that is not an address but a mark for the kind
// of code that follows: PERF_CONTEXT_MAX in linux/perf_event.h.
const maxContext = 1<<64 - 4095

// chain adds the calls of a call chain. The number after a mark is the address that ran. All others
// are return addresses: the byte before is in the call.
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

// frame returns the place of an address of a call chain.
func (p *perfCollector) frame(s *perfdata.Sample, i int, process *space, address uint64) place {
	if !p.offsets {
		return p.ours(process, address)
	}
	return place{p.maps.object(s.Objects[i], "").Ours, address}
}
