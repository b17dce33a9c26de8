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

// maxContext is the first of the numbers that in a call chain are no addresses, but tell whose code
// follows, in linux/perf_event.h PERF_CONTEXT_MAX.
const maxContext = 1<<64 - 4095

// chain adds the calls of a call chain. What follows a mark is an address that ran, all else are
// addresses to which functions return: the byte before is in the call.
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
