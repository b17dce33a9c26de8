package steps

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// EventName is the name that the event has in recordings by steps.
const EventName = "steps:u"

// Head returns the description of the events and the record layout that a perf.data file with the
// records of a [Session] needs. The event is of the kernel's dummy type, because no counter of the
// kernel makes the samples.
func Head() *perfdata.Head {
	a := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample: 1,
		Sample_type: unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_PERIOD |
			unix.PERF_SAMPLE_BRANCH_STACK,
		Branch_sample_type: unix.PERF_SAMPLE_BRANCH_ANY | unix.PERF_SAMPLE_BRANCH_USER,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitMmap |
			unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask | unix.PerfBitSampleIDAll,
	}
	a.Size = uint32(binary.Size(a))
	attr, err := binary.Append(nil, binary.NativeEndian, &a)
	if err != nil {
		panic(err) // a struct of integers can be encoded
	}
	return &perfdata.Head{Name: EventName, Attr: attr}
}
