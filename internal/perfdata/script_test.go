package perfdata_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/perfdata"
)

// describe returns a record as one line of text.
func describe(record perfdata.Record) string {
	switch r := record.(type) {
	case *perfdata.Sample:
		return fmt.Sprintf("sample %+v", *r)
	case *perfdata.Mmap:
		return fmt.Sprintf("mmap %+v", *r)
	case *perfdata.Comm:
		return fmt.Sprintf("comm %+v", *r)
	case *perfdata.Fork:
		return fmt.Sprintf("fork %+v", *r)
	case *perfdata.Exit:
		return fmt.Sprintf("exit %+v", *r)
	case *perfdata.Lost:
		return fmt.Sprintf("lost %+v", *r)
	case *perfdata.Throttle:
		return fmt.Sprintf("throttle %+v", *r)
	}
	return "?"
}

// script is text as perf 6.1 prints it with many combinations of fields, and text of older and
// newer versions of perf.
const script = `# captured on: today
         swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x12090c8) @ 0xffffffff81000000]: x [kernel.kallsyms]_text
       perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:100/100
a b:1.5  100  1437.649624: PERF_RECORD_COMM exec: a b:1.5:100/100
 100/101   1437.649658: PERF_RECORD_MMAP2 100/100: [0x55c10dcbc000(0x1000) @ 0x1000 fe:00 9978124 2484416209]: r-xp /tmp/with blank/l
PERF_RECORD_MMAP2 100/100: [0x7fa9b8993000(0x26000) @ 0 <7ebc65e52f2bbea498b4040fa92f7238377aaba9>]: r--p /lib/ld.so
l 30152  1437.651428: PERF_RECORD_FORK(102:103):(100:101)
l 30152  1437.651429000: PERF_RECORD_EXIT(102:103):(100:101)
l 30152  1437.651429: PERF_RECORD_LOST_SAMPLES lost 5
     5629ec742901 0x5629ec7428f4/0x5629ec742901/P/-/-/19/  0x5629ec742967/0x5629ec7428d0/M/-/-/1/COND/SPEC_WRONG_PATH 
     7f06d6a21e00
 propeller sampl  5595/5596  914937.303951: cycles:u:      5629ec742901 0x12/0x34/-/X/A/0
 sampl  5596 [003] 914937.303951:   250000 cpu-clock:  ffffffff81b289e0 main+0x1 (/bin/with (brackets))
 sampl  5596      5629ec742901 0x12(/bin/a)/0x34(/bin/b)/P/-/-/7
 5595/5596 [001] 7f06d6a21e00
 1234 add (/bin/x)
 0x12/0x34/P/-/-/8
 sampl  5596  1.5: probe:
`

func TestScript(t *testing.T) {
	var got []string
	for record, err := range perfdata.NewScriptReader(iotest.OneByteReader(strings.NewReader(script))).Records() {
		require.NoError(t, err)
		got = append(got, describe(record))
	}
	require.Equal(t, []string{
		"mmap {PID:-1 TID:0 Time:0 Start:18446744071578845184 Length:18911432 PageOffset:18446744071578845184 Executable:true Path:[kernel.kallsyms]_text BuildID:}",
		"comm {PID:100 TID:100 Time:0 Exec:false Name:perf-exec}",
		"comm {PID:100 TID:100 Time:1437649624000 Exec:true Name:a b:1.5}",
		"mmap {PID:100 TID:100 Time:1437649658000 Start:94287648505856 Length:4096 PageOffset:4096 Executable:true Path:/tmp/with blank/l BuildID:}",
		"mmap {PID:100 TID:100 Time:0 Start:140366923247616 Length:155648 PageOffset:0 Executable:false Path:/lib/ld.so BuildID:7ebc65e52f2bbea498b4040fa92f7238377aaba9}",
		"fork {PID:102 ParentPID:100 TID:103 ParentTID:101 Time:1437651428000}",
		"exit {PID:102 TID:103 Time:1437651429000}",
		"sample {Event:0 Mode:0 PID:-1 TID:-1 Time:0 IP:94738060683521 Addr:0 Period:0 Stack:[] Raw:[] Branches:[{From:94738060683508 To:94738060683521 Flags:0} {From:94738060683623 To:94738060683472 Flags:16777216}] EventName: Objects:[] Object: Symbol:}",
		"sample {Event:0 Mode:0 PID:-1 TID:-1 Time:0 IP:139667347480064 Addr:0 Period:0 Stack:[] Raw:[] Branches:[] EventName: Objects:[] Object: Symbol:}",
		"sample {Event:0 Mode:0 PID:5595 TID:5596 Time:914937303951000 IP:94738060683521 Addr:0 Period:0 Stack:[] Raw:[] Branches:[{From:18 To:52 Flags:0}] EventName:cycles:u Objects:[] Object: Symbol:}",
		"sample {Event:0 Mode:0 PID:-1 TID:5596 Time:914937303951000 IP:18446744071590545888 Addr:0 Period:0 Stack:[] Raw:[] Branches:[] EventName:cpu-clock Objects:[] Object:/bin/with (brackets) Symbol:main}",
		"sample {Event:0 Mode:0 PID:-1 TID:5596 Time:0 IP:94738060683521 Addr:0 Period:0 Stack:[] Raw:[] Branches:[{From:18 To:52 Flags:0}] EventName: Objects:[] Object: Symbol:}",
		"sample {Event:0 Mode:0 PID:5595 TID:5596 Time:0 IP:139667347480064 Addr:0 Period:0 Stack:[] Raw:[] Branches:[] EventName: Objects:[] Object: Symbol:}",
		"sample {Event:0 Mode:0 PID:-1 TID:-1 Time:0 IP:4660 Addr:0 Period:0 Stack:[] Raw:[] Branches:[] EventName: Objects:[] Object:/bin/x Symbol:add}",
		"sample {Event:0 Mode:0 PID:-1 TID:-1 Time:0 IP:0 Addr:0 Period:0 Stack:[] Raw:[] Branches:[{From:18 To:52 Flags:0}] EventName: Objects:[] Object: Symbol:}",
		"sample {Event:0 Mode:0 PID:-1 TID:5596 Time:1500000000 IP:0 Addr:0 Period:0 Stack:[] Raw:[] Branches:[] EventName:probe Objects:[] Object: Symbol:}",
	}, got)
}

// chains is text with call chains: with and without thread, time, symbols and branches.
const chains = `l 30147  1436.483585:     250000 cpu-clock: 
	           14f02 intel_check_word.constprop.0+0x122 (/lib/ld.so)
	      1e00000000 [unknown] ([unknown])

l 30147  1436.483832:     250000 cpu-clock: 
	           1fff0 small+0x1 (inlined)
	           1fff0 large+0x2 (/bin/l)
	           20000 main+0x2 (/bin/l)


	           153e0
	           153f0
 0x12/0x34/P/-/-/8


	           153e8
`

func TestScriptCallChains(t *testing.T) {
	got, err := all(perfdata.NewScriptReader(strings.NewReader(chains)).Records())
	require.NoError(t, err)
	samples := only[*perfdata.Sample](got)
	require.Len(t, samples, 4)
	require.Equal(t, []uint64{0x14f02, 0x1e00000000}, samples[0].Stack)
	require.Equal(t, "/lib/ld.so", samples[0].Object)
	require.Equal(t, "intel_check_word.constprop.0", samples[0].Symbol)
	require.Equal(t, []uint64{0x1fff0, 0x20000}, samples[1].Stack)
	require.Equal(t, "/bin/l", samples[1].Object)
	require.Equal(t, "large", samples[1].Symbol)
	require.Equal(t, []perfdata.Branch{{From: 0x12, To: 0x34}}, samples[2].Branches)
	require.Equal(t, uint64(0x153e0), samples[2].IP)
	require.Equal(t, uint64(0x153e8), samples[3].IP)
}

// partial is text whose first lines of samples have no address: call chains with -F event,ip and
// -F pid,tid,ip, and branches with -F comm,event,brstack and -F pid,tid,brstack.
const partial = `cycles:u:
	          401010 f (/bin/l)

 70/71
	          401020 f (/bin/l)

    my app cycles:u:  0x12/0x34/P/-/-/8
 70/71  0x12/0x34/P/-/-/8
`

func TestScriptWithoutAddresses(t *testing.T) {
	got, err := all(perfdata.NewScriptReader(strings.NewReader(partial)).Records())
	require.NoError(t, err)
	var texts []string
	for _, s := range only[*perfdata.Sample](got) {
		texts = append(texts, fmt.Sprintf("%d/%d %s %x %x %d", s.PID, s.TID, s.EventName, s.IP, s.Stack, len(s.Branches)))
	}
	require.Equal(t, []string{"-1/-1 cycles:u 401010 [401010] 0", "70/71  401020 [401020] 0", "-1/-1 cycles:u 0 [] 1", "70/71  0 [] 1"}, texts)
}

// A command may end with a colon. It is not the event, even if the text has no events.
func TestScriptCommandWithColon(t *testing.T) {
	for line, event := range map[string]string{
		"   rt: 8394           401010":                          "",
		"   rt: 8394 1.5:           401010":                     "",
		"   rt: 8394 [001] 1.5:  250000 cycles:u:       401010": "cycles:u",
		"   rt: 8394/8395  cycles:u:           401010":          "cycles:u",
		"cycles:u:           401010":                            "cycles:u",
		"   250000 cycles:u:           401010":                  "cycles:u",
		"1.5: sched:sched_switch:           401010":             "sched:sched_switch",
	} {
		got, err := all(perfdata.NewScriptReader(strings.NewReader(line + "\n")).Records())
		require.NoError(t, err, line)
		s := only[*perfdata.Sample](got)[0]
		require.Equal(t, event, s.EventName, line)
		require.Equal(t, uint64(0x401010), s.IP, line)
	}
}

// The report_sample.py of simpleperf prints call chains with a tab after each address. A command
// whose name has hexadecimal digits is in a column of the same width.
func TestScriptOfSimpleperf(t *testing.T) {
	const text = "main\t5 [001] 1.5:\t\t250000 cpu-cycles:\n" +
		"          401010\tf(int) (/bin/l)\n          401020\tmain (/bin/l)\n\n" +
		"              dd     5 [001] 1.6:     250000 cpu-cycles:            401030 f (/bin/l)\n" +
		"              dd     5 [001] 1.7:     250000 cpu-cycles:            401040 f (/bin/l)\n"
	got, err := all(perfdata.NewScriptReader(strings.NewReader(text)).Records())
	require.NoError(t, err)
	samples := only[*perfdata.Sample](got)
	require.Len(t, samples, 3)
	require.Equal(t, []uint64{0x401010, 0x401020}, samples[0].Stack)
	require.Equal(t, "f(int)", samples[0].Symbol)
	require.Equal(t, [2]uint64{0x401030, 0x401040}, [2]uint64{samples[1].IP, samples[2].IP})
}

// sources is text that perf prints with -F +srcline: after each address comes a line with the
// source position.
const sources = `        a b: 0/0 11923 78831.872711:     250000 cpu-clock:u:      559cc06ff783 work+0x13 (/tmp/th)
  th.cc:12
  abcdefghijklmn 11923 78831.872958:     250000 cpu-clock:u:      559cc06ff792 [unknown] (/tmp/th)
  my file.cc:7 0x12/0x34/P/-/-/8
              th 11921 78831.872959:     250000 cpu-clock:u:      559cc06ff795 [unknown] (/tmp/th)
  th[795]
a b: 1/1 11940 78834.070256:     250000 cpu-clock:u: 
	            1792 work+0x22 (/tmp/th)
  th.cc:12
	            1800 main+0x3 (/tmp/th)
  main+3
	            1810 [unknown] (/tmp/th)

      559cc06ff79d work:1
`

// Lines without a record are ignored: the lists of perf script --show-namespace-events, and the
// reports of damaged traces with --itrace.
func TestScriptRemarks(t *testing.T) {
	const text = `a 7/7 1.000001: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7
		[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff, 3/pid: 4/0xeffffffc,
		 4/user: 4/0xeffffffd, 5/mnt: 4/0xeffffff8, 6/cgroup: 4/0xeffffffb]
a 7/7 1.000002: cycles:      401000
 instruction trace error type 1 time 1.000003 cpu 0 pid 7 tid 7 ip 0x401000 code 8: Lost trace data
a 7/7 1.000004: cycles:      401010
`
	got, err := all(perfdata.NewScriptReader(strings.NewReader(text)).Records())
	require.NoError(t, err)
	samples := only[*perfdata.Sample](got)
	require.Len(t, samples, 2)
	require.Equal(t, [2]uint64{0x401000, 0x401010}, [2]uint64{samples[0].IP, samples[1].IP})
}

func TestScriptSources(t *testing.T) {
	got, err := all(perfdata.NewScriptReader(strings.NewReader(sources)).Records())
	require.NoError(t, err)
	samples := only[*perfdata.Sample](got)
	require.Len(t, samples, 5)
	require.Equal(t, uint64(0x559cc06ff783), samples[0].IP)
	require.Equal(t, uint64(0x559cc06ff792), samples[1].IP)
	require.Equal(t, []perfdata.Branch{{From: 0x12, To: 0x34}}, samples[1].Branches)
	require.Equal(t, uint64(0x559cc06ff795), samples[2].IP)
	require.Equal(t, []uint64{0x1792, 0x1800, 0x1810}, samples[3].Stack)
	require.Equal(t, uint64(0x559cc06ff79d), samples[4].IP)
}

func TestScriptFaults(t *testing.T) {
	for name, c := range map[string]struct {
		in           string
		class        error
		line, column int
	}{
		"prose":               {"\n  what is this", afdo.ErrSyntax, 2, 3},
		"great address":       {" 12345678123456789", afdo.ErrSyntax, 1, 2},
		"no second address":   {" 12 0x12/P/-/-/8", afdo.ErrSyntax, 1, 10},
		"great branch":        {" 12 0x12/0x12345678123456789/P/-/-/8", afdo.ErrSyntax, 1, 12},
		"branch, then prose":  {" 12 0x12/0x34/P/-/-/8 prose", afdo.ErrSyntax, 1, 23},
		"branch without end":  {" 12 0x12/0x34", afdo.ErrSyntax, 1, 14},
		"symbols":             {" 12 main+0x1/main+0x2/P/-/-/8", afdo.ErrSyntax, 1, 5},
		"instruction":         {"            4011fa main (/a) ilen: 3 insn: 49 83 c2", afdo.ErrSyntax, 1, 30},
		"chain of prose":      {"\tmain", afdo.ErrSyntax, 1, 2},
		"mapping of no one":   {"PERF_RECORD_MMAP2 x/1: [0x1", afdo.ErrSyntax, 1, 19},
		"mapping is cut":      {"a 1 1.5: PERF_RECORD_MMAP2 1/1: [0x1000(0x10", afdo.ErrSyntax, 1, 45},
		"mapping is cut late": {"PERF_RECORD_MMAP2 1/1: [0x1000(0x10) @ 0 fe:00 1 2", afdo.ErrSyntax, 1, 41},
		"mapping of no file":  {"PERF_RECORD_MMAP2 1/1: [0x1000(0x10) @ 0 fe:00 1 2]: r-xp", afdo.ErrSyntax, 1, 54},
		"great thread":        {"PERF_RECORD_MMAP2 3000000000/1: [0x1000", afdo.ErrSyntax, 1, 19},
		"fork":                {"PERF_RECORD_FORK(1:2)", afdo.ErrSyntax, 1, 21},
		"name":                {"PERF_RECORD_COMM: x", afdo.ErrSyntax, 1, 19},
		"line":                {strings.Repeat(" ", 1<<20) + " 12", afdo.ErrLimit, 1, 1<<20 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := all(perfdata.NewScriptReader(strings.NewReader(c.in)).Records())
			require.ErrorIs(t, err, c.class, name)
			require.Equal(t, c.class != afdo.ErrLimit, errors.Is(err, afdo.ErrMalformed), name)
			var fault *afdo.FormatError
			require.ErrorAs(t, err, &fault, name)
			require.Equal(t, []int{c.line, c.column}, []int{fault.Line, fault.Column}, "%s: %v", name, err)
		})
	}
	_, err := all(perfdata.NewScriptReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(script)))).Records())
	require.ErrorIs(t, err, iotest.ErrTimeout)
}

// Branches that perf prints by symbol have no addresses, and give an error that names the option to
// use. perf prints "-" for a branch whose prediction is unknown.
func TestScriptBranchesBySymbol(t *testing.T) {
	for _, text := range []string{
		" f+0x1fa/f+0x11e/-/-/-/0/ g+0x28c/g+0x16b/-/-/-/0/\n",
		"            4011fa f+0x1fa/f+0x11e/-/-/-/0/\n",
		"            4011fa f+0x1fa/f+0x11e/P/-/-/0/\n",
	} {
		_, err := all(perfdata.NewScriptReader(strings.NewReader(text)).Records())
		require.ErrorContains(t, err, "-F", text)
		require.ErrorContains(t, err, "brstack", text)
	}
}
