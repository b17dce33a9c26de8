package x86

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/record/internal/simulate"
)

// A stepped is a process that a test executes instruction by instruction.
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

// to sets a CPU to the state of the process.
func (p *stepped) to(c *CPU) {
	r := &p.regs
	c.R = [16]uint64{r.Rax, r.Rcx, r.Rdx, r.Rbx, r.Rsp, r.Rbp, r.Rsi, r.Rdi, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	c.IP, c.Flags, c.FS, c.GS = r.Rip, r.Eflags, r.Fs_base, r.Gs_base
	c.SetVectors(p.fp, 0)
}

// undefined returns the flags that the processor may set as it likes.
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

// follow executes instructions of a stopped process, and compares the state after each with what
// the simulation computes. It returns how many instructions it has executed, and those that the
// simulation does not know.
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
	before.Memory.Read, before.Memory.Constant = func(a []uint64, to [][]byte) int { return read(a[0], to[0]) }, constant
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

// startStopped starts a command, and stops it after a time.
func startStopped(t *testing.T, after time.Duration, command ...string) *stepped {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = t.TempDir()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	time.Sleep(after)
	p := &stepped{pid: cmd.Process.Pid}
	if err := unix.PtraceSeize(p.pid); err != nil {
		t.Skipf("no process can be traced here: %v", err)
	}
	require.NoError(t, unix.PtraceInterrupt(p.pid))
	var status unix.WaitStatus
	_, err := unix.Wait4(p.pid, &status, 0, nil)
	require.NoError(t, err)
	return p
}

// mixed uses instructions of many kinds.
const mixed = `
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
volatile uint64_t out; volatile double fout; volatile float gout;
typedef int v4 __attribute__((vector_size(16))); typedef short v8 __attribute__((vector_size(16)));
typedef unsigned char v16 __attribute__((vector_size(16))); typedef double d2 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));
static uint64_t x = 88172645463325252ull;
static uint64_t next(void) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }
#define OPS(T) { T a = next(), b = next(), c = next() & 15; \
	out += a + b; out ^= a - b; out += a * b; out += a / (b | 1); out += a % (b | 1); out += a << c; out += a >> c; \
	out += a < b; out += a <= b; out += -a; out += ~a; out += a & b; out += a | b; out += (a == b); out += a > 7 ? b : c; \
	out += (T)((a << (c & 7)) | (a >> (8 * sizeof a - (c & 7)))); }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
	unsigned char buf[256], other[256]; v4 v; v8 w; v16 b; d2 d; f4 f;
	for (;;) {
		OPS(uint8_t) OPS(int8_t) OPS(uint16_t) OPS(int16_t) OPS(uint32_t) OPS(int32_t) OPS(uint64_t) OPS(int64_t)
		unsigned __int128 q = (unsigned __int128)next() * next(); q += next(); q <<= next() & 63; q -= next(); out += q >> 70;
		out += __builtin_ctzll(next()); out += __builtin_clzll(next() | 1); out += __builtin_bswap64(next()); out += __builtin_bswap32(next());
		out += __builtin_popcountll(next());
		uint64_t k = next(); k |= 1ull << (next() & 63); k &= ~(1ull << (next() & 63)); k ^= 1ull << (next() & 63); out += k; out += k >> (next() & 63) & 1;
		double a = (int64_t)next() / 1e10, e = (int32_t)next() / 3.0; fout = a + e; fout = a * e; fout = a / e; fout = a - e; fout = sqrt(fabs(a));
		fout = a < e ? a : e; out += a < e; out += a == e; out += (int64_t)a; out += (int32_t)e; out += (uint64_t)fabs(e); out += a != a;
		float g = (int32_t)next() / 7.0f, h = a; gout = g + h; gout = g * h; gout = g / h; gout = g > h ? g : h; fout = g; gout = next(); out += (int)g;
		for (int i = 0; i < 4; i++) { v[i] = next(); f[i] = (int)next(); } for (int i = 0; i < 8; i++) w[i] = next(); for (int i = 0; i < 16; i++) b[i] = next();
		d[0] = a; d[1] = e; d = d * d + d; d = d / (d - 1.0); fout = d[0] + d[1]; f = f * f - f / 3.0f; gout = f[0] + f[3];
		v = v + (v >> 3) - (v << 2); v = v * 7; v = v > 5; w = w * w + (w >> 2) - (w == 3); b = b + b - (b > 9); b ^= 3; b &= ~(b << 1);
		v = __builtin_shuffle(v, (v4){3, 1, 0, 2}); w = __builtin_shuffle(w, (v8){7, 0, 6, 1, 5, 2, 4, 3}); b = __builtin_shuffle(b, b, (v16){0, 16, 1, 17, 2, 18, 3, 19});
		f = __builtin_convertvector(v, f4); v = __builtin_convertvector(f / 1e3f, v4); out += v[0] ^ w[1] ^ b[2]; gout = f[1];
		for (int i = 0; i < 200; i++) { buf[i] = i * 7; other[i] = buf[i] > 99 ? 3 : buf[i] ^ i; } 
		{ void *from = buf, *to = other; long n = 20; __asm__ volatile("cld; rep movsb" : "+S"(from), "+D"(to), "+c"(n) :: "memory");
		to = buf; n = 4; __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(77L) : "memory"); }
		uint64_t z = 99; { void *at = other; __asm__ volatile("repne scasb" : "+c"(z), "+D"(at) : "a"(21L) : "memory", "cc"); } out += z;
		__asm__ volatile("rcl $0, %0; shld $5, %1, %0; shrd $9, %1, %0; adc %1, %0; sbb $3, %0; rol $3, %0; ror $7, %0; sahf; cmc" : "+r"(z) : "r"(out) : "cc", "rax");
		__atomic_fetch_add(&x, 0, 5); uint64_t expected = z; __atomic_compare_exchange_n(&x, &expected, 5, 0, 5, 5); out += __atomic_exchange_n(&k, 9, 5);
		out += fib(7); char s[40]; memset(s, 1, 40); memcpy(s, buf, 33); out += s[next() & 31]; if (!x) x = 1;
		switch (next() & 7) { case 0: out++; break; case 1: out *= 3; break; case 2: out ^= 5; break; case 3: out -= 9; break; case 4: out += 8; break; case 5: out |= 1; break; case 6: out &= 0xfff; break; default: out = 4; }
	}
}
`

// A simulated instruction does what the processor does.
func TestStep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, flag := range []string{"-O1", "-O3 -march=x86-64-v3", "-O3 -march=native", "-O0", "-O3", "-O2 -msse4.2"}[:testenv.Rounds(2, 6)] {
		program := filepath.Join(t.TempDir(), "prog")
		require.NoError(t, os.WriteFile(program+".c", []byte(mixed), 0o600))
		args := append(strings.Fields(flag), "-o", program, program+".c", "-lm", "-w", "-fno-builtin-memset")
		out, err := exec.Command(testenv.Tool(t, "gcc"), args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		n, unknown := follow(t, startStopped(t, 20*time.Millisecond, program), testenv.Rounds(2000, 4000))
		t.Logf("%s: %d instructions, unknown: %v", flag, n, unknown)
	}
}
