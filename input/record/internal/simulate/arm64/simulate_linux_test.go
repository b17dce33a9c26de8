//go:build arm64

package arm64

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/testkit/tracee"
)

// A stepped is a process that a test executes one instruction at a time with ptrace.
type stepped struct {
	pid  int
	regs unix.PtraceRegs
	fp   struct {
		v            [32]Vector
		status, mode uint32
		_            [2]uint32
	}
	tls uint64
}

// set reads or writes a set of registers of the process. request is PTRACE_GETREGSET or
// PTRACE_SETREGSET.
func (p *stepped) set(request, set int, data unsafe.Pointer, size uintptr) error {
	vector := unix.Iovec{Base: (*byte)(data), Len: uint64(size)}
	_, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(p.pid), uintptr(set), uintptr(unsafe.Pointer(&vector)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// all reads or writes all registers of the process. request is PTRACE_GETREGSET or
// PTRACE_SETREGSET.
func (p *stepped) all(t *testing.T, request int) {
	t.Helper()
	require.NoError(t, p.set(request, 1, unsafe.Pointer(&p.regs), unsafe.Sizeof(p.regs)))
	require.NoError(t, p.set(request, 2, unsafe.Pointer(&p.fp), unsafe.Sizeof(p.fp)))
	require.NoError(t, p.set(request, 0x401, unsafe.Pointer(&p.tls), unsafe.Sizeof(p.tls)))
}

// step executes one instruction of the process. It returns the signal with which the process has
// stopped, and whether the process has ended.
func (p *stepped) step(t *testing.T) (signal unix.Signal, ended bool) {
	t.Helper()
	require.NoError(t, unix.PtraceSingleStep(p.pid))
	var status unix.WaitStatus
	_, err := unix.Wait4(p.pid, &status, 0, nil)
	require.NoError(t, err)
	return status.StopSignal(), !status.Stopped()
}

// to sets the registers of a CPU to those of the process.
func (p *stepped) to(c *CPU) {
	c.SetRegisters(&p.regs.Regs, p.regs.Sp, p.regs.Pc, p.regs.Pstate)
	c.SetVectors(&p.fp.v, p.fp.mode)
	c.TLS = p.tls
}

func (p *stepped) read(address uint64, to []byte) int {
	local := []unix.Iovec{{Base: &to[0], Len: uint64(len(to))}}
	got, _ := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(to)}}, 0)
	return max(0, got)
}

// newStepped starts a process that has not executed an instruction yet, and maps the memory for
// tests (see memoryStart) in it.
func newStepped(t *testing.T) *stepped {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process can be traced here: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	p := &stepped{pid: cmd.Process.Pid}
	var status unix.WaitStatus
	_, err := unix.Wait4(p.pid, &status, 0, nil)
	require.NoError(t, err)
	p.all(t, unix.PTRACE_GETREGSET)
	p.poke(t, p.regs.Pc, 0xd4000001) // svc #0
	const protection, flags = unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED
	p.regs.Regs = [31]uint64{0: memoryStart, 1: memorySize, 2: protection, 3: flags, 4: ^uint64(0), 8: unix.SYS_MMAP}
	p.all(t, unix.PTRACE_SETREGSET)
	p.step(t)
	p.all(t, unix.PTRACE_GETREGSET)
	require.EqualValues(t, memoryStart, p.regs.Regs[0])
	p.restore(t, memoryStart, memorySize)
	return p
}

// poke writes an instruction into the memory of the process.
func (p *stepped) poke(t *testing.T, address uint64, w word) {
	t.Helper()
	_, err := unix.PtracePokeText(p.pid, uintptr(address), binary.LittleEndian.AppendUint32(nil, uint32(w)))
	require.NoError(t, err)
}

// restore resets a part of the memory for tests to the values that the function content returns.
func (p *stepped) restore(t *testing.T, start, size uint64) {
	t.Helper()
	from := make([]byte, 0, size)
	for address := start; address < start+size; address += 8 {
		from = binary.LittleEndian.AppendUint64(from, content(address))
	}
	local := []unix.Iovec{{Base: &from[0], Len: size}}
	_, err := unix.ProcessVMWritev(p.pid, local, []unix.RemoteIovec{{Base: uintptr(start), Len: int(size)}}, 0)
	require.NoError(t, err)
}

// executed sets the process to the state before, executes the instruction w, and returns the state
// after it. pages are the pages of memory that may change. executed returns false if the processor
// refuses the instruction.
func (p *stepped) executed(t *testing.T, before *state, w word, pages []uint64) (*state, bool) {
	t.Helper()
	p.poke(t, codeAddress, w)
	p.regs.Regs, p.regs.Sp, p.regs.Pc = [31]uint64(before.x[:31]), before.sp, before.pc
	p.regs.Pstate = p.regs.Pstate&^arithmetic&^0xc00 | before.flags // not BTYPE
	p.fp.v, p.fp.mode, p.tls = before.v, 0, 0
	p.all(t, unix.PTRACE_SETREGSET)
	signal, ended := p.step(t)
	require.False(t, ended, "%08x", w)
	p.all(t, unix.PTRACE_GETREGSET)
	if signal != unix.SIGTRAP || p.regs.Pc == before.pc {
		return nil, false
	}
	after := &state{sp: p.regs.Sp, pc: p.regs.Pc, flags: p.regs.Pstate & arithmetic, v: p.fp.v, memory: make(map[uint64]uint64)}
	copy(after.x[:], p.regs.Regs[:])
	for _, page := range pages {
		var now [simulate.PageSize]byte
		p.read(page, now[:])
		after.setPage(page, now[:])
		p.restore(t, page, simulate.PageSize)
	}
	return after, true
}

// isAlone reports whether the result of an instruction cannot be compared: an exclusive store fails
// without a load before it, some registers belong to the system, and QEMU 7.2 takes the stack
// pointer for the second register of a pair that begins with x30.
func isAlone(w word) bool {
	exclusiveStore := w&0x3f800000 == 0x08000000 && !w.bit(22) && (!w.bit(21) || w.bit(31))
	mode := w&0xffffffc0 == 0xd51b4400 || w&0xffffffe0 == 0xd53bd040
	pair := w&0xbfa07c00 == 0x08207c00 && (w.rm() == linkRegister || w.rd() == linkRegister)
	return exclusiveStore || mode || pair || isSigning(w)
}

// isSigning reports whether an instruction signs an address, or checks or removes a signature. Its
// result depends on keys of the process.
func isSigning(w word) bool {
	hint := w&0xfffffd1f == 0xd503211f || w == 0xd50320ff
	branch, load := w&0xfe000800 == 0xd6000800, w&0xff200400 == 0xf8200400
	return hint || branch || load || w&0xffff0000 == 0xdac10000
}

// written returns the number of instructions in wordsFile for the pattern of w. There are more for
// patterns of vector instructions, because each of these patterns matches many instructions.
func written(w word) int {
	const vectors = 7
	if w.field(25, 3) == vectors {
		return 40
	}
	return 4
}

var update = flag.Bool("update", false, "write "+wordsFile)

// Simulating random instructions of each pattern gives the same result as executing them on the
// processor.
func TestWordsOnProcessor(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := newStepped(t)
	var golden strings.Builder
	var refused []string
	for _, pattern := range allPatterns() {
		random := rand.New(rand.NewPCG(uint64(pattern.value), uint64(pattern.mask)))
		agreed := 0
		for range testenv.Rounds(20, 200, 2000) {
			w, seed := pattern.randomWord(random), uint64(random.IntN(1000))
			before := newState(w, seed)
			simulation, ok := before.simulated(w)
			if !ok || isAlone(w) || operation(w) == nil {
				continue
			}
			pages := []uint64{dataAddress, dataAddress - simulate.PageSize}
			for address := range simulation.memory {
				pages = append(pages, address&^(simulate.PageSize-1))
			}
			slices.Sort(pages)
			after, ok := p.executed(t, before, w, slices.Compact(pages))
			if !ok {
				continue
			}
			want := before.changes(after, simulation)
			if !assert.Equal(t, want, before.changes(simulation, simulation), "%08x with %d, pattern %s", w, seed, pattern.text) {
				break
			}
			if agreed++; agreed <= written(w) {
				fmt.Fprintf(&golden, "%08x %d: %s\n", w, seed, want)
			}
		}
		if agreed == 0 {
			refused = append(refused, pattern.text)
		}
	}
	t.Logf("not compared: %s", strings.Join(refused, "\n"))
	if *update {
		require.NoError(t, os.WriteFile(wordsFile, []byte(golden.String()), 0o600))
	}
}

// requireSame compares the registers and memory of a simulation with those of the process.
func (p *stepped) requireSame(t *testing.T, simulated, real *CPU, text string) {
	t.Helper()
	require.Equal(t, real.IP, simulated.IP, text)
	require.Equal(t, real.X, simulated.X, text)
	require.Equal(t, real.SP, simulated.SP, text)
	require.Equal(t, real.Flags, simulated.Flags, text)
	for n := range real.V {
		if simulated.unknown>>n&1 == 0 {
			require.Equal(t, real.V[n], simulated.V[n], "%s v%d", text, n)
		}
	}
	for _, start := range simulated.Memory.Used(nil) {
		if simulated.TLS-start < 2*simulate.PageSize { // the kernel writes there
			continue
		}
		var now, copied [simulate.PageSize]byte
		require.Equal(t, simulated.Memory.Bytes(start, copied[:]), p.read(start, now[:]), text)
		for i := range copied {
			if simulated.Memory.IsUnknown(start+uint64(i), 1) {
				copied[i] = now[i]
			}
		}
		require.True(t, now == copied, text)
	}
}

// compare executes instructions of a stopped process, at most limit. After each instruction, it
// compares the state of the process with the result of the simulation. It returns the number of
// executed instructions, and the number of each instruction that the simulation does not know.
func compare(t *testing.T, p *stepped, limit int) (n int, unknown map[string]int) {
	t.Helper()
	unknown = make(map[string]int)
	var before, after CPU
	before.Memory.Read = p.read
	before.Memory.Constant = func(uint64) *simulate.Page { return nil }
	for ; n < limit; n++ {
		p.all(t, unix.PTRACE_GETREGSET)
		before.Memory.Reset()
		p.to(&before)
		in, at, ok := before.Decode(), before.IP, false
		text := "no instruction"
		if in != nil {
			text = fmt.Sprintf("%08x", uint32(in.word))
			ok = before.Execute(in)
		}
		signal, ended := p.step(t)
		if ended {
			return n, unknown
		}
		if !ok || signal != unix.SIGTRAP {
			unknown[text]++
			continue
		}
		p.all(t, unix.PTRACE_GETREGSET)
		p.to(&after)
		if isAlone(in.word) || after.IP == at { // after a system call, a step may execute nothing
			continue
		}
		p.requireSame(t, &before, &after, text)
		if before.tainted {
			unknown["(vectors) "+text]++
		}
	}
	return n, unknown
}

// Simulating the instructions of a program gives the same registers and memory as executing them on
// the processor.
func TestStep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := []string{"-O1", "-O3 -mbranch-protection=standard", "-O0", "-O3 -march=armv8.2-a"}[:testenv.Rounds(2, 4)]
	var programs []string
	for _, flags := range all {
		programs = append(programs, tracee.Build(t, flags))
	}
	for i, flags := range all {
		n, unknown := compare(t, &stepped{pid: tracee.Start(t, programs[i])}, testenv.Rounds(2000, 4000))
		t.Logf("%s: %d instructions, unknown: %v", flags, n, unknown)
	}
}
