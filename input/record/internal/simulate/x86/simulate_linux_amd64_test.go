package x86

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/testkit/tracee"
)

// A stepped is a process that a test executes one instruction at a time with ptrace.
type stepped struct {
	pid  int
	regs unix.PtraceRegs
	fp   []byte // as XSAVE stores it
}

func (p *stepped) read() error {
	if err := unix.PtraceGetRegs(p.pid, &p.regs); err != nil {
		return err
	}
	buffer := make([]byte, 832)
	vector := unix.Iovec{Base: &buffer[0], Len: uint64(len(buffer))}
	const xstate = 0x202 // NT_X86_XSTATE
	_, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(p.pid), xstate, uintptr(unsafe.Pointer(&vector)), 0, 0)
	if errno != 0 {
		return errno
	}
	p.fp = buffer[:vector.Len]
	return nil
}

// to sets the registers of a CPU to those of the process.
func (p *stepped) to(c *CPU) {
	r := &p.regs
	c.R = [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	c.IP, c.Flags, c.FS, c.GS = r.Rip, r.Eflags, r.Fs_base, r.Gs_base
	c.SetVectors(p.fp, 0)
}

// undefined returns the flags that are undefined after an instruction, so that the processor may
// set or clear them.
func undefined(op x86asm.Op) uint64 {
	switch op {
	case x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.SHLD, x86asm.SHRD:
		return overflow
	case x86asm.MUL, x86asm.IMUL:
		return sign | zero | parity
	case x86asm.DIV, x86asm.IDIV:
		return arithmetic
	case x86asm.BSF, x86asm.BSR:
		return arithmetic &^ zero
	case x86asm.TZCNT, x86asm.LZCNT:
		return overflow | sign | parity
	case x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC:
		return overflow | sign | parity
	}
	return 0
}

// follow executes instructions of a stopped process, at most limit. After each instruction, it
// compares the state of the process with the result of the simulation. It returns the number of
// executed instructions, and the number of each instruction that the simulation does not know.
func follow(t *testing.T, p *stepped, limit int) (n int, unknown map[string]int) {
	t.Helper()
	unknown = make(map[string]int)
	read := func(address uint64, to []byte) int {
		local := []unix.Iovec{{Base: &to[0], Len: uint64(len(to))}}
		got, _ := unix.ProcessVMReadv(p.pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(to)}}, 0)
		return max(0, got)
	}
	constant := func(uint64) *simulate.Page { return nil }
	before, after := CPU{Mode: 64}, CPU{Mode: 64}
	before.Memory.Read, before.Memory.Constant = read, constant
	for ; n < limit; n++ {
		require.NoError(t, p.read())
		before.Memory.Reset()
		p.to(&before)
		in, at, text, ok := before.Decode(), before.IP, "no decoding", false
		if in != nil {
			var code [maxInstruction]byte
			text = fmt.Sprintf("% x %s", code[:before.Memory.Bytes(at, code[:in.Flow.Size])], in.in)
			ok = before.Execute(in)
		}
		if !ok {
			unknown[text]++
		}
		require.NoError(t, unix.PtraceSingleStep(p.pid))
		var status unix.WaitStatus
		_, err := unix.Wait4(p.pid, &status, 0, nil)
		require.NoError(t, err)
		if !status.Stopped() {
			return n, unknown
		}
		if !ok {
			continue
		}
		require.NoError(t, p.read())
		p.to(&after)
		if after.IP == at { // one round of a repeated instruction
			continue
		}
		bits := uint64(arithmetic|direction) &^ undefined(in.in.Op)
		if in.wide != nil && in.in.Op == x86asm.MOV { // of BMI
			bits &^= sign | parity
		}
		require.Equal(t, after.IP, before.IP, text)
		require.Equal(t, after.R, before.R, text)
		require.Equal(t, after.Flags&bits, before.Flags&bits, text)
		for n := range after.X[:16] {
			if before.unknown>>n&1 == 0 {
				require.Equal(t, after.X[n], before.X[n], text)
			}
		}
		if before.tainted {
			unknown["(vectors) "+text]++
		}
		for _, start := range before.Memory.Used(nil) {
			if start == before.FS&^(simulate.PageSize-1) { // the kernel writes there
				continue
			}
			var now, simulated [simulate.PageSize]byte
			require.Equal(t, before.Memory.Bytes(start, simulated[:]), read(start, now[:]), text)
			for i := 0; i < simulate.PageSize; i++ {
				if before.Memory.IsUnknown(start+uint64(i), 1) {
					simulated[i] = now[i]
				}
			}
			require.True(t, now == simulated, text)
		}
	}
	return n, unknown
}

// Simulating an instruction gives the same registers and memory as executing it on the processor.
func TestStep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, flag := range []string{"-O1", "-O3 -march=x86-64-v3", "-O3 -march=native", "-O0", "-O3", "-O2 -msse4.2"}[:testenv.Rounds(2, 6)] {
		p := &stepped{pid: tracee.Start(t, tracee.Build(t, flag))}
		n, unknown := follow(t, p, testenv.Rounds(2000, 4000))
		t.Logf("%s: %d instructions, unknown: %v", flag, n, unknown)
	}
}

// The simulation continues through strtod and printf, which read the mode of the floating-point
// unit.
func TestControlWord(t *testing.T) {
	c := CPU{Mode: 64, IP: 0x1000}
	c.Memory.Read = func(_ uint64, to []byte) int {
		copy(to, []byte{0xd9, 0x3c, 0x24, 0x66, 0x8b, 0x04, 0x24}) // fnstcw (%rsp); mov (%rsp), %ax
		return len(to)
	}
	c.Memory.Constant = func(uint64) *simulate.Page { return nil }
	c.Memory.Reset()
	c.R[4] = 0x2000
	for range 2 {
		require.True(t, c.Execute(c.Decode()))
	}
	require.Equal(t, uint64(0x37f), c.R[0])
}

// The simulation continues through strcasecmp, whose variants in the C library use instructions
// that are not simulated.
func TestCompareWithoutCase(t *testing.T) {
	c := CPU{Mode: 64}
	c.Memory.Read = func(_ uint64, to []byte) int { return copy(to, "Content-Type\x00content-length\x00") }
	c.Memory.Constant = func(uint64) *simulate.Page { return nil }
	c.Memory.Reset()
	for name, sign := range map[string]int{"strcasecmp": 1, "strncasecmp": 0} {
		c.R[7], c.R[6], c.R[2], c.R[4] = 0x1000, 0x1000+13, 8, 0x2000 // the texts, a length and the stack
		require.True(t, c.Call(name), name)
		require.Equal(t, sign, int(int32(c.R[0])), name)
	}
}
