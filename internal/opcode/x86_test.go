package opcode

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// X86 decodes instructions as GNU as encodes them: also with other code after them, and not at all
// if their last bytes are missing.
func TestX86(t *testing.T) {
	jumps := func(by int64) Instruction { return Instruction{Jumps: true, By: by} }
	leaps := func(by int64) Instruction { return Instruction{Leaves: true, Jumps: true, By: by} }
	calls, returns := Instruction{Calls: true}, Instruction{Leaves: true, Returns: true}
	for _, c := range []struct {
		mode int
		code string
		want Instruction // but for the size
	}{
		{64, "c5 f8 77", Instruction{}},                         // vzeroupper
		{64, "c5 fc 77", Instruction{}},                         // vzeroall
		{64, "c5 fd 6f 07", Instruction{}},                      // vmovdqa (%rdi),%ymm0
		{64, "c4 e3 7b f0 db 18", Instruction{}},                // rorx $0x18,%ebx,%ebx
		{64, "c4 42 93 f6 e5", Instruction{}},                   // mulx %r13,%r13,%r12
		{64, "c4 c2 a0 f3 cb", Instruction{}},                   // blsr %r11,%r11
		{64, "c4 e2 f9 b8 44 24 10", Instruction{}},             // vfmadd231pd 0x10(%rsp),%xmm0,%xmm0
		{64, "c4 e3 f9 6b c2 10", Instruction{}},                // vfmaddsd %xmm2,%xmm1,%xmm0,%xmm0
		{64, "c5 f1 73 d8 08", Instruction{}},                   // vpsrldq $8,%xmm0,%xmm1
		{64, "c5 fb 90 c1", Instruction{}},                      // kmovd %k1,%k0: not a jump
		{64, "67 c4 61 f9 7e e8", Instruction{}},                // addr32 vmovq %xmm13,%rax
		{64, "62 f1 fd 48 6f 07", Instruction{}},                // vmovdqa64 (%rdi),%zmm0
		{64, "62 f3 75 48 25 c2 ff", Instruction{}},             // vpternlogd $0xff,%zmm2,%zmm1,%zmm0
		{64, "62 f5 74 48 58 c2", Instruction{}},                // vaddph %zmm2,%zmm1,%zmm0
		{64, "62 f4 7d 18 81 c0 34 12", Instruction{}},          // add $0x1234,%ax,%ax of APX
		{64, "62 f4 7c 18 24 c1 07", Instruction{}},             // shld $7,%eax,%ecx,%eax of APX
		{64, "d5 19 03 c1", Instruction{}},                      // add %r25,%r16 of APX
		{64, "d5 18 b8 01 00 00 00 00 00 00 00", Instruction{}}, // mov $1,%r16 of APX
		{64, "8f e8 78 c2 ec 0e", Instruction{}},                // vprotd $0xe,%xmm4,%xmm5
		{64, "8f ea 78 10 c8 34 12 00 00", Instruction{}},       // bextr $0x1234,%eax,%ecx
		{64, "8f 00", Instruction{}},                            // pop (%rax)
		{64, "f3 0f 1e fa", Instruction{}},                      // endbr64
		{64, "f3 48 0f 1e c8", Instruction{}},                   // rdsspq %rax
		{64, "66 4c 0f 38 f6 c9", Instruction{}},                // adcx %rcx,%r9
		{64, "66 0f 3a 0f c1 08", Instruction{}},                // palignr $8,%xmm1,%xmm0
		{64, "0f 01 ee", Instruction{}},                         // rdpkru
		{64, "f3 0f a7 c8", Instruction{}},                      // rep xcryptecb
		{64, "f2 0f 78 c1 08 04", Instruction{}},                // insertq $4,$8,%xmm1,%xmm0
		{64, "0f 78 33", Instruction{}},                         // vmread %rsi,(%rbx)
		{64, "66 66 2e 0f 1f 84 00 00 00 00 00", Instruction{}},
		{64, "48 b8 eb fe eb fe eb fe eb fe", Instruction{}}, // movabs
		{64, "66 b8 eb fe", Instruction{}},
		{64, "48 a1 eb fe eb fe eb fe eb fe", Instruction{}},
		{64, "67 a1 eb fe eb fe", Instruction{}},
		{64, "f6 05 00 00 00 00 01", Instruction{}}, // testb $1,(%rip)
		{64, "66 f7 c1 34 12", Instruction{}},
		{64, "f7 d9", Instruction{}},
		{64, "0f 20 03", Instruction{}}, // mov %cr0,%rbx
		{64, "c8 10 00 00", Instruction{}},
		{64, "8b 04 25 00 00 00 00", Instruction{}},
		{64, "8b 44 25 00", Instruction{}},
		{64, "f3 48 ab", Instruction{Repeats: true}}, // rep stosq
		{64, "f3 a4", Instruction{Repeats: true}},
		{64, "f2 ae", Instruction{Repeats: true}}, // repne scasb
		{64, "a4", Instruction{}},
		{64, "f3 90", Instruction{}},          // pause
		{64, "f3 0f a4 c1 08", Instruction{}}, // shld
		{64, "eb fe", leaps(-2)},
		{64, "e9 fb ff ff ff", leaps(-5)},
		{64, "2e 0f 84 00 01 00 00", jumps(0x100)},
		{64, "e3 10", jumps(0x10)},
		{64, "3e ff e0", leaps(0)}, // notrack jmp *%rax
		{64, "ff 25 00 10 00 00", leaps(0)},
		{64, "66 66 48 e8 00 00 00 00", calls}, // of __tls_get_addr
		{64, "41 ff d4", calls},
		{64, "f2 c3", returns}, // bnd ret
		{64, "c2 08 00", returns},
		{64, "0f 0b", Instruction{Leaves: true}},
		{32, "c5 fc 77", Instruction{}},
		{32, "c5 08", Instruction{}}, // lds (%eax),%ecx
		{32, "62 04 24", Instruction{}},
		{32, "62 f1 7d 48 6f 00", Instruction{}},
		{32, "48", Instruction{}},
		{32, "67 8b 46 10", Instruction{}},
		{32, "67 8b 0e 00 01", Instruction{}},
		{32, "67 a1 34 12", Instruction{}},
		{32, "66 e9 00 01", leaps(0x100)},
		{32, "9a 00 00 00 00 33 00", Instruction{Calls: true}},
		{32, "ea 00 00 00 00 33 00", Instruction{Leaves: true}},
		{64, "e8 fb ff ff ff", Instruction{Calls: true, By: -5}},
		{64, "cc", Instruction{}},    // int3
		{64, "66 9d", Instruction{}}, // popfw
		{64, "9c", Instruction{}},    // pushf
		{64, "0f 05", Instruction{}},
		{32, "82 c0 01", Instruction{}},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		require.NoError(t, err)
		c.want.Size = uint64(len(code))
		assert.Equal(t, c.want, X86(code, c.mode), c.code)
		for _, behind := range []byte{0, 0x0f, 0xc5, 0xff} {
			assert.Equal(t, c.want, X86(append(code[:len(code):len(code)], bytes.Repeat([]byte{behind}, 20)...), c.mode), c.code)
		}
		for n := range code {
			got := X86(code[:n], c.mode)
			assert.Zero(t, got.Size, "%s: %d bytes", c.code, n)
		}
	}
	for _, none := range []string{"06", "0f 04", "82 c0 01", "c4 e4 78 10 c0", "62 f0 7c 48 10 c0", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 66"} {
		code, err := hex.DecodeString(strings.ReplaceAll(none, " ", ""))
		require.NoError(t, err)
		assert.Zero(t, X86(code, 64), none)
	}
}

// A disassembled is an instruction in the output of objdump: its address, its bytes and its text.
type disassembled struct {
	at   uint64
	code []byte
	text string
}

// disassemble runs objdump with some arguments, and returns the instructions in its output.
func disassemble(t *testing.T, objdump string, args ...string) (list []disassembled) {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, objdump), append([]string{"-w", "-z"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		address, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		digits, text, ok := strings.Cut(strings.TrimLeft(rest, "\t "), "\t")
		at, err := strconv.ParseUint(address, 16, 64)
		if !ok || err != nil {
			continue
		}
		code, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		require.NoError(t, err)
		list = append(list, disassembled{at, code, text})
	}
	return list
}

// unlike reports whether objdump decodes an instruction in another way than this package. objdump
// prints prefixes without an effect as instructions, and fwait as a part of the next instruction.
// It decodes near jumps with a prefix for 16 bits as AMD's processors do.
func (d disassembled) unlike() bool {
	words := strings.Fields(d.text)
	for len(words) > 0 && isPrefix(words[0]) {
		words = words[1:]
	}
	return len(words) == 0 || strings.HasPrefix(words[0], ".") || strings.Contains(d.text, "(bad)") || d.fwait() || d.near16()
}

func isPrefix(word string) bool {
	switch word {
	case "lock", "rep", "repz", "repnz", "data16", "addr32", "addr16", "cs", "ds", "es", "ss", "fs", "gs", "bnd", "notrack", "xacquire", "xrelease":
		return true
	}
	return strings.HasPrefix(word, "rex") || strings.HasPrefix(word, "{")
}

func (d disassembled) fwait() bool {
	x := x86{long: true}
	copy(x.code[:], d.code)
	x.prefixes()
	return x.code[x.at] == 0x9b && x.at+1 < len(d.code)
}

func (d disassembled) near16() bool {
	x := x86{long: true}
	copy(x.code[:], d.code)
	x.prefixes()
	shape := x.begin()
	return x.data16 && (shape == 'r' || x.space == 0 && x.opcode == 0xc7)
}

// agree compares the length and the control flow of an instruction with the output of objdump.
func (d disassembled) agree(t *testing.T, mode int) {
	t.Helper()
	words := strings.Fields(d.text)
	repeats := false
	for isPrefix(strings.SplitN(words[0], ",", 2)[0]) {
		repeats = repeats || strings.HasPrefix(words[0], "rep")
		words = words[1:]
	}
	word := words[0]
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(word, p) {
				return true
			}
		}
		return false
	}
	far := has("ljmp")
	want := Instruction{
		Size: uint64(len(d.code)), Calls: has("call", "lcall"), Returns: has("ret", "lret", "iret"),
		Jumps: has("j", "loop"), Leaves: far || has("jmp", "ret", "lret", "iret", "ud"),
	}
	// A letter for the size ends the names of string instructions, unlike movsbl and movsd of SSE.
	want.Repeats = repeats && len(word) <= 5 && has("movs", "stos", "lods", "cmps", "scas", "ins", "outs") && !strings.Contains(d.text, "xmm")
	got := X86(d.code, mode)
	got.By = 0
	assert.Equal(t, want, got, "%x %s", d.code, d.text)
}

// run runs a program in a folder, and ends the test if the program fails.
func run(t *testing.T, dir, tool string, args ...string) {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", tool, strings.Join(args, " "), out)
}

// vectors is a C source with loops that compilers vectorise, and with operations for which the BMI
// extension of x86 has instructions.
const vectors = `
void add(float *restrict a, const float *restrict b, const float *restrict c, int n) { for (int i = 0; i < n; i++) a[i] = b[i] * c[i] + a[i]; }
void mix(unsigned char *restrict a, const short *restrict b, int n) { for (int i = 0; i < n; i++) a[i] = b[i] > 9 ? b[i] << 3 : a[i] ^ 0x55; }
void wide(long *restrict a, const int *restrict b, int n) { for (int i = 0; i < n; i++) a[i] += (long)b[i] * 77 + (a[i] >> 5); }
double sum(const double *a, const int *at, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[at[i]]; return s; }
unsigned bits(unsigned a, unsigned b) { return (a & ~b) + (a & (a - 1)) + (a >> (b & 31)) + (a << 7 | a >> 25) + __builtin_popcount(a) + __builtin_ctz(b | 1) + (a & -a); }
unsigned long product(unsigned long a, unsigned long b) { return (unsigned __int128)a * b >> 64; }
int leads(int n, int (*f)(int)) { switch (n) { case 1: return f(2); case 2: return f(9) + 1; case 3: return 8; case 4: return f(7) * 3; case 5: return f(n); } return f(n & 0x123); }
short narrow(short a) { return a + 0x1234; }
int total(const signed char *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i + 1]; return s; }
`

// X86 agrees with objdump on the code that compilers generate for several processors. If the
// environment variable AFDO_BINARY names a program, the test decodes that program instead.
func TestX86AgreesWithObjdump(t *testing.T) {
	if own := os.Getenv("AFDO_BINARY"); own != "" {
		n := 0
		for _, d := range disassemble(t, "objdump", "-d", "-j", ".text", own) {
			if !d.unlike() {
				d.agree(t, 64)
				n++
			}
		}
		t.Logf("%d instructions", n)
		return
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prog.c"), []byte(vectors), 0o600))
	n := 0
	for _, c := range []struct{ compiler, objdump, flags string }{
		{"gcc", "objdump", "-mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mf16c -fcf-protection"},
		{"clang-22", "objdump", "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mbmi2 -mprefer-vector-width=512"},
		{"clang-22", "llvm-objdump-22", "-mapxf -mavx512f -mbmi2"},
		{"gcc", "objdump", "-march=bdver4"},
		{"clang-22", "objdump", "-march=sapphirerapids -fPIC"},
		{"gcc", "objdump", "-mavx -fPIC"},
		{"gcc", "objdump", ""},
	}[:testenv.Rounds(1, 7)] {
		args := append(strings.Fields(c.flags), "-O3", "-c", "prog.c", "-o", "prog.o", "-ffast-math")
		run(t, dir, testenv.Tool(t, c.compiler), args...)
		for _, d := range disassemble(t, c.objdump, "-d", filepath.Join(dir, "prog.o")) {
			d.agree(t, 64)
			n++
		}
	}
	require.Greater(t, n, testenv.Rounds(250, 1500))
}

// X86 agrees with objdump on random bytes that begin with common prefixes, except for bytes that
// objdump cannot decode.
func TestRandomX86AgreesWithObjdump(t *testing.T) {
	const slot = 32
	random := rand.New(rand.NewPCG(5, 6))
	starts := []string{"", "", "\x0f", "\x0f\x38", "\x0f\x3a", "\x66", "\xf3\x0f", "\x48", "\x66\x0f", "\x67", "\xc4\xe1", "\xc4\xe2", "\xc4\xe3", "\xc5", "\x62\xf1", "\x62\xf2", "\x62\xf3", "\x8f\xe8", "\x8f\xe9", "\x8f\xea"}
	for mode, machine := range map[int]string{64: "i386:x86-64", 32: "i386"} {
		var code []byte
		for range testenv.Rounds(1_000, 60_000) {
			start := len(code)
			code = append(code, starts[random.IntN(len(starts))]...)
			for len(code)-start < 13 {
				code = append(code, byte(random.Uint32()))
			}
			code = append(code, bytes.Repeat([]byte{0x90}, slot-(len(code)-start))...)
		}
		path := filepath.Join(t.TempDir(), "code")
		require.NoError(t, os.WriteFile(path, code, 0o600))
		n := 0
		for _, d := range disassemble(t, "objdump", "-D", "-b", "binary", "-m", machine, path) {
			if d.at%slot == 0 && !d.unlike() {
				d.agree(t, mode)
				n++
			}
		}
		t.Logf("%s: %d instructions", machine, n)
		require.Greater(t, n, testenv.Rounds(250, 16_000))
	}
}
