package samples

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEventNames checks what the names of events count, as perf, simpleperf and other profilers
// write them.
func TestEventNames(t *testing.T) {
	for want, names := range map[Counts][]string{
		CountsExecution: {
			"cycles", "br_inst_exec:taken", "cycles:u", "cycles:ppp", "cycles:P", "cpu-cycles", "cpu-cycles:uH", "cpu_core/cycles/P", "cpu_atom/cpu-cycles/",
			"cpu/cycles,period=100000/u", "cpu/period=100000,cycles/u", "cpu/cpu-cycles,freq=999/", "cpu-clock/freq=999/", "cpu-clock:u",
			"task-clock:u", "instructions:u", "cpu/event=0xc4,umask=0x20/pp", "cpu/umask=0x20,event=0xc4/pp", "r20c4", "r00c0:u",
			"cpu/event=0x3c/", "BR_INST_RETIRED.NEAR_TAKEN:uppp", "cpu_core/BR_INST_RETIRED.NEAR_TAKEN/upp", "INST_RETIRED.PREC_DIST",
			"CPU_CLK_UNHALTED.THREAD", "branches:u", "branch-instructions", "ex_ret_brn_tkn", "ibs_op//", "ibs_op/cnt_ctl=1/", "br_retired",
			"armv8_pmuv3_0/br_retired/", "armv8_cortex_a57/cpu_cycles/", "armv8_pmuv3/inst_retired/", "steps:u", "cpu", "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
			"cpu/event=0xc4,name=branches/", "branch",
		},
		CountsOther: {
			"page-faults", "minor-faults:u", "branch-misses", "cache-misses:u", "cpu/cache-misses,period=1000/", "cpu/mem-loads,ldlat=30/P",
			"cpu/ldlat=30,mem-loads/P", "cpu_core/mem-loads,ldlat=30/P", "cpu_atom/mem-loads,ldlat=30/P", "cpu/mem-stores/P",
			"cpu/event=0xd1,umask=0x20/", "cpu/umask=0x20,event=0xd1/ppp", "r01d1", "cpuhp:cpuhp_enter", "cpufreq:x",
			"sched:sched_switch", "raw_syscalls:sys_enter", "probe:f", "probe_hot:main", "mem:0x1234:rw", "context-switches", "cs", "cs:u",
			"migrations", "cpu-migrations", "cpu_core/config=0x5301d1,ldlat=3/", "idle-cycles-frontend", "stalled-cycles-backend:u", "LLC-loads", "LLC-load-misses", "node-loads",
			"L1-dcache-loads:u", "L1-icache-load-misses", "dTLB-loads", "dTLB-stores", "MEM_INST_RETIRED.ALL_LOADS", "MEM_LOAD_RETIRED.L1_HIT:pp",
			"FRONTEND_RETIRED.L1I_MISS", "BR_MISP_RETIRED.ALL_BRANCHES", "offcpu-time", "off-cpu", "alloc_space", "wall", "cgroup-switches",
			"machine_clears.count", "bpf-output", "dummy:HG", "lock:contention_begin", "duration_time", "cpu/cache-misses/",
		},
		CountsUnknown: {
			"cpu/config=0x1234/", "hisi_sccl1_ddrc0/x/", "strange",
		},
	} {
		for _, name := range names {
			assert.Equal(t, want, countsOf(name), name)
		}
	}
}
