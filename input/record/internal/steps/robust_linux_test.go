//go:build amd64 || arm64

package steps

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/perfdata"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// many is a C program that starts threads, forks, vforks and executes itself. Each thread and
// process adds to a sum that the program prints, so a wrong sum shows that one of them failed.
const many = `
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static long work(long n) { long s = 0; for (long i = 0; i < n; i++) s += i % 3 ? i : -i; return s; }
static void *thread(void *p) { return (void *)work((long)p); }
int main(int argc, char **argv) {
	if (argc == 2) return work(atol(argv[1])) & 63;
	int threads = atoi(argv[1]), processes = atoi(argv[2]); long n = atol(argv[3]), sum = 0;
	pthread_t t[64];
	for (int i = 0; i < threads; i++) pthread_create(&t[i], 0, thread, (void *)(n + i));
	for (int i = 0; i < processes; i++) {
		pid_t p = i % 2 ? vfork() : fork();
		if (p == 0 && i % 3 == 0) _exit(work(n) & 63);
		if (p == 0) { execl("/proc/self/exe", argv[0], argv[3], (char *)0); _exit(99); }
		int status; waitpid(p, &status, 0);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000000;
	}
	for (int i = 0; i < threads; i++) { void *s; pthread_join(t[i], &s); sum += (long)s; }
	printf("%ld\n", sum);
	return 0;
}
`

// requireSameOutput runs a command without a recording, and several times with one. It compares the
// outputs. It returns the recording with the most bursts.
func requireSameOutput(t *testing.T, rounds int, c Config, command ...string) (best *recorded) {
	t.Helper()
	want, err := exec.Command(command[0], command[1:]...).Output()
	require.NoError(t, err)
	for range rounds {
		cmd := exec.Command(command[0], command[1:]...)
		var out bytes.Buffer
		cmd.Stdout = &out
		r := launchAndWait(t, c, cmd)
		require.NoError(t, r.err)
		require.Equal(t, string(want), out.String())
		if best == nil || r.stats.Bursts > best.stats.Bursts {
			best = r
		}
	}
	return best
}

// The recording contains the start and the end of each thread and process of a program, and the
// program prints the same result as without a recording.
func TestThreadsAndProcesses(t *testing.T) {
	program := build(t, many, "-pthread")
	r := requireSameOutput(t, testenv.Rounds(1, 20, 100), Config{Overhead: 0.5}, program, "4", "8", "500000")
	var threads, forks, execs int
	known := map[int32]bool{}
	for _, record := range r.records {
		switch record := record.(type) {
		case perfdata.Fork:
			known[record.TID] = true
			if record.PID == record.ParentPID {
				threads++
			} else {
				forks++
			}
		case perfdata.Comm:
			known[record.TID] = true
			if record.Exec {
				execs++
			}
		case *perfdata.Sample:
			assert.True(t, known[record.TID])
		}
	}
	assert.Equal(t, []int{4, 8, 6}, []int{threads, forks, execs})
}

// The program many is recorded with many threads, and with many short processes.
func TestMany(t *testing.T) {
	testenv.NeedSweep(t)
	program := build(t, many, "-pthread")
	requireSameOutput(t, testenv.Rounds(20, 20, 100), Config{}, program, "64", "0", "300000")
	requireSameOutput(t, testenv.Rounds(1, 1, 100), Config{}, program, "0", "1000", "100000")
}

// expensive is a C program that executes the instructions and library functions that take longest
// to simulate. A loop before each of them makes bursts begin there.
const expensive = `
#include <stdlib.h>
#include <string.h>
static char a[60000], b[60000];
volatile long sum;
int main(int argc, char **argv) {
	memset(a, 1, sizeof a - 1); memset(b, 1, sizeof b - 1);
	for (long n = atol(argv[1]); n > 0; n--) {
		for (long i = 0; i < 100000; i++) sum += i;
#ifdef __x86_64__
		void *to = a; long count = 16000;
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(1) : "memory");
#endif
		sum += strspn(a, b) + strlen(a); memcpy(b, a, sizeof a); sum += memcmp(a, b, sizeof a);
	}
	return 0;
}
`

// No burst needs more processor time than the longest time for which a thread may be stopped.
func TestStopsAreShort(t *testing.T) {
	r := launchAndWait(t, Config{Overhead: 1, Length: 1_000_000}, exec.Command(build(t, expensive, "-fno-builtin"), "1000"))
	t.Logf("%+v", *r.stats)
	require.NotZero(t, r.stats.Bursts)
	assert.Less(t, r.stats.LongestWork, 20*time.Millisecond)
	assert.GreaterOrEqual(t, r.stats.Stopped, r.stats.Longest)
}

// signals is a C program that counts the signals that it gets: from a timer each millisecond, one
// in each round of a loop, and traps. On x86, it also executes single steps of its own code.
const signals = `
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
static volatile sig_atomic_t alarms, users, traps;
#ifdef __aarch64__
#define BREAK "brk #0"
#define AFTER_BREAK(c) (c)->uc_mcontext.pc += 4
#define SINGLE_STEP ""
#else
#define BREAK "int3"
#define AFTER_BREAK(c)
#define SINGLE_STEP "pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tnop\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq"
#endif
static void count(int s, siginfo_t *i, void *c) {
	if (s == SIGALRM) alarms++; else if (s == SIGUSR1) users++; else traps++;
	if (s == SIGTRAP && i->si_code == TRAP_BRKPT) AFTER_BREAK((ucontext_t *)c);
}
static long step(long i) { return i % 3 ? i : -i; }
int main(int argc, char **argv) {
	long rounds = atol(argv[1]), sum = 0;
	struct sigaction a = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGALRM, &a, 0); sigaction(SIGUSR1, &a, 0); sigaction(SIGTRAP, &a, 0);
	struct itimerval every = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_REAL, &every, 0);
	for (long i = 0; i < rounds; i++) {
		for (int k = 0; k < 2000; k++) sum += step(i + k);
		if (i % 100 == 0) raise(SIGUSR1);
		if (i % 100 == 1) __asm__ volatile(BREAK);
		if (i % 100 == 2) kill(getpid(), SIGTRAP);
		if (i % 100 == 3) __asm__ volatile(SINGLE_STEP ::: "cc", "memory");
		if (i % 100 == 4) { sigset_t all, old; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, &old);
			for (int k = 0; k < 2000; k++) sum += step(k);
			sigset_t now; sigprocmask(SIG_SETMASK, &old, &now); if (!sigismember(&now, SIGTRAP)) return 2; }
	}
	sigaction(SIGTRAP, 0, &a);
	if (a.sa_sigaction != count || !alarms) return 3;
	printf("%ld %d %d\n", sum, (int)users, (int)traps);
	return 0;
}
`

// A recorded program gets all of its signals, including traps of its own, and its signal mask does
// not change.
func TestSignals(t *testing.T) {
	program := build(t, signals)
	requireSameOutput(t, testenv.Rounds(1, 8, 30), Config{Overhead: 0.5}, program, "5000")
}

// A recorded program that gets SIGSTOP stays stopped until it gets SIGCONT, and then continues
// without a loss.
func TestGroupStop(t *testing.T) {
	program := build(t, knownLoop)
	s, err := Start(Config{Overhead: 0.5})
	require.NoError(t, err)
	cmd := exec.Command(program, "30000000")
	var out bytes.Buffer
	cmd.Stdout = &out
	skipUnlessTraceable(t, s.Launch(cmd))
	require.NoError(t, s.Begin())
	for range testenv.Rounds(3, 30, 100) {
		require.NoError(t, cmd.Process.Signal(unix.SIGSTOP))
		require.Eventually(t, func() bool {
			state := statusField(cmd.Process.Pid, "State")
			return state == "" || strings.ContainsAny(state[:1], "TtZ")
		}, 10*time.Second, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(unix.SIGCONT))
	}
	r := collect(t, s, cmd)
	require.EqualError(t, r.err, "exit status 7")
	assert.NotEmpty(t, out.String())
}

// A recording of a running process contains all of its threads. The process continues when the
// recording ends.
func TestAttach(t *testing.T) {
	program := build(t, many, "-pthread")
	want, err := exec.Command(program, "3", "0", "400000000").Output()
	require.NoError(t, err)
	attach := func(t *testing.T, attributes *syscall.SysProcAttr) (ended int) {
		cmd := exec.Command(program, "3", "0", "400000000")
		cmd.SysProcAttr = attributes
		var out bytes.Buffer
		cmd.Stdout = &out
		s, err := Start(Config{Overhead: 0.5})
		require.NoError(t, err)
		if err := cmd.Start(); err != nil && attributes != nil {
			t.Skipf("no namespaces can be made here: %v", err)
		}
		skipUnlessTraceable(t, s.Attach(cmd.Process.Pid))
		require.NoError(t, s.Begin())
		first := untilSample(t, s)
		s.Stop()
		r := collectAfter(t, s, nil, first)
		assert.NotEmpty(t, r.samples())
		require.NoError(t, cmd.Wait())
		assert.Equal(t, string(want), out.String())
		return cmd.Process.Pid
	}
	ended := attach(t, nil)
	t.Run("container", func(t *testing.T) {
		attach(t, &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		})
	})

	s, err := Start(Config{})
	require.NoError(t, err)
	require.ErrorIs(t, s.Attach(ended), unix.ESRCH, "it has ended")
	_, _ = s.Wait()
}

// Attach returns ErrTraced for a process with a debugger, and the debugger stays attached.
func TestDebugger(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := ptrace(unix.PTRACE_SEIZE, cmd.Process.Pid, 0, 0); err != nil {
		t.Skipf("no process can be traced here: %v", err)
	}
	s, err := Start(Config{})
	require.NoError(t, err)
	err = s.Attach(cmd.Process.Pid)
	require.ErrorIs(t, err, ErrTraced)
	assert.ErrorContains(t, err, fmt.Sprintf("process %d is traced by process %d", cmd.Process.Pid, unix.Gettid()))
	_, _ = s.Wait()
}

// For a command that cannot be executed, Begin returns the error of execve.
func TestNoCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("no program"), 0o700))
	s, err := Start(Config{})
	require.NoError(t, err)
	require.ErrorIs(t, s.Launch(exec.Command("no-such-program")), exec.ErrNotFound)
	cmd := &exec.Cmd{Path: file, Args: []string{file}}
	skipUnlessTraceable(t, s.Launch(cmd))
	require.ErrorIs(t, s.Begin(), syscall.ENOEXEC)
	assert.Error(t, cmd.Wait())
	_, _ = io.Copy(io.Discard, s.Records())
	_, err = s.Wait()
	require.NoError(t, err)
}

// Launch and Attach return ErrUnsupported for programs whose instructions cannot be simulated,
// before such a program runs.
func TestUnsupportedMachine(t *testing.T) {
	if unsupportedMachine == elf.EM_NONE {
		t.Skip("all programs of this system can be simulated")
	}
	file := filepath.Join(t.TempDir(), "file")
	head := append([]byte(elf.ELFMAG), make([]byte, 16)...)
	binary.NativeEndian.PutUint16(head[18:], uint16(unsupportedMachine))
	require.NoError(t, os.WriteFile(file, head, 0o700))
	s, err := Start(Config{})
	require.NoError(t, err)
	require.ErrorIs(t, s.Launch(exec.Command(file)), ErrUnsupported)
	s.Stop()
	_, _ = s.Wait()
}

// killedVariable is an environment variable. If it is set, the test binary records the command in
// its value.
const killedVariable = "AFDO_TEST_STEPS_COMMAND"

func TestMain(m *testing.M) {
	RunHelper()
	if command := os.Getenv(killedVariable); command != "" {
		os.Exit(recordForever(strings.Fields(command)))
	}
	os.Exit(m.Run())
}

// recordForever records a command until this process is killed.
func recordForever(command []string) int {
	s, err := Start(Config{Overhead: 0.9})
	if err != nil {
		return 1
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), killedVariable+"=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.Launch(cmd) != nil || s.Begin() != nil {
		return 1
	}
	fmt.Println(cmd.Process.Pid, s.tracer.Process.Pid)
	_, _ = io.Copy(io.Discard, s.Records())
	_ = cmd.Wait()
	_, _ = s.Wait()
	return 0
}

// writesResult is a C program that computes for a while, and writes its result into a file at the
// end.
const writesResult = `
#include <stdio.h>
#include <stdlib.h>
static volatile long sum;
__attribute__((noinline)) static void work(long i) { if (i % 4 == 0) sum += 3; else sum ^= i; }
int main(int argc, char **argv) {
	for (long i = 0; i < 30000000; i++) work(i);
	FILE *f = fopen(argv[1], "w");
	fprintf(f, "%ld\n", sum);
	return fclose(f);
}
`

// A victim is a program that computes a result while another process records it. The test kills the
// other process.
type victim struct {
	t               *testing.T
	program, result string
	want            string // the result

	recorder    *exec.Cmd
	pid, tracer int
}

func newVictim(t *testing.T) *victim {
	v := &victim{t: t, program: build(t, writesResult), result: filepath.Join(t.TempDir(), "result")}
	require.NoError(t, exec.Command(v.program, v.result).Run())
	want, err := os.ReadFile(v.result)
	require.NoError(t, err)
	v.want = string(want)
	return v
}

// start starts the recorder, which starts the program.
func (v *victim) start() {
	require.NoError(v.t, os.Remove(v.result))
	v.recorder = exec.Command(os.Args[0])
	v.recorder.Env = append(os.Environ(), killedVariable+"="+v.program+" "+v.result)
	v.recorder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := v.recorder.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, v.recorder.Start())
	if _, err := fmt.Fscan(out, &v.pid, &v.tracer); err != nil {
		_ = v.recorder.Wait()
		v.t.Skip("no process can be traced here")
	}
}

// requireSurvival waits for the end of the recorder and of the program. It checks that the program
// has written the right result.
func (v *victim) requireSurvival(round int) {
	_ = v.recorder.Wait()
	require.Eventually(v.t, func() bool { return !isAlive(v.pid) }, time.Minute, time.Millisecond)
	got, err := os.ReadFile(v.result)
	require.NoError(v.t, err, "round %d: the program was killed", round)
	require.Equal(v.t, v.want, string(got))
}

// A program survives when its recorder is killed at a random time: the recorder alone, its process
// group, or the tracer alone. The program is stopped for 90% of the time, so most kills occur
// during a burst.
func TestKilledRecorder(t *testing.T) {
	v := newVictim(t)
	for i := range testenv.Rounds(3, 45, 600) {
		v.start()
		time.Sleep(time.Duration(rand.Int64N(int64(100 * time.Millisecond))))
		killed := []int{v.recorder.Process.Pid, -v.recorder.Process.Pid, v.tracer}[i%3]
		if err := unix.Kill(killed, unix.SIGKILL); err != unix.ESRCH { // the program may have ended
			require.NoError(t, err)
		}
		v.requireSurvival(i)
	}
}

// isAlive reports whether a process exists and is not a zombie.
func isAlive(pid int) bool {
	state := statusField(pid, "State")
	return state != "" && state[0] != 'Z'
}

// sequences is a C program that increments a counter in a restartable sequence, as tcmalloc does.
// If a recording stopped the thread within each attempt, the sequence would never end.
const sequences = `
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <sys/rseq.h>
static long counters[4096], restarts;
#define TABLE ".pushsection __rseq_cs, \"aw\"\n\t.balign 32\n3:\n\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n\t"
#ifdef __aarch64__
#define BODY "adrp x9, 3b\n\tadd x9, x9, :lo12:3b\n\tstr x9, %0\n" \
	"1:\n\tldr w9, %1\n\tadd x9, %2, x9, lsl #6\n\tldr x10, [x9]\n\ttbz x10, #0, 5f\n\tnop\n5:\n\tadd x10, x10, #1\n\tstr x10, [x9]\n2:\n\t" \
	".pushsection __rseq_failure, \"ax\"\n\t.inst 0xd428bc00\n4:\n\tb %l[abort]\n\t.popsection"
#define CLOBBERED "x9", "x10"
#else
#define BODY "leaq 3b(%%rip), %%rax\n\tmovq %%rax, %0\n" \
	"1:\n\tmovl %1, %%eax\n\tshlq $6, %%rax\n\taddq %2, %%rax\n\tmovq (%%rax), %%rcx\n\t" \
	"testq $1, %%rcx\n\tjz 5f\n\tnop\n5:\n\tincq %%rcx\n\tmovq %%rcx, (%%rax)\n2:\n\t" \
	".pushsection __rseq_failure, \"ax\"\n\t.byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n4:\n\tjmp %l[abort]\n\t.popsection"
#define CLOBBERED "rax", "rcx"
#endif
static long increment(long n) {
	struct rseq *r = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	long done = 0;
	while (done < n) {
		__asm__ goto volatile(TABLE BODY :: "m"(r->rseq_cs), "m"(r->cpu_id), "r"(counters) : CLOBBERED, "memory", "cc" : abort);
		done++;
		continue;
	abort:
		restarts++;
	}
	long sum = 0;
	for (int i = 0; i < 4096; i++) sum += counters[i];
	return sum;
}
int main(int argc, char **argv) {
	if (__rseq_size == 0) return 77;
	printf("%ld\n", increment(atol(argv[1])));
	return restarts > 100000;
}
`

func TestRestartableSequences(t *testing.T) {
	if headers, _ := filepath.Glob("/usr/include/*/sys/rseq.h"); len(headers) == 0 {
		t.Skip("the C library knows no restartable sequences")
	}
	program := build(t, sequences)
	if err := exec.Command(program, "1").Run(); err != nil {
		t.Skipf("no restartable sequences here: %v", err)
	}
	r := requireSameOutput(t, testenv.Rounds(1, 20), Config{Overhead: 0.5}, program, "20000000")
	assert.NotZero(t, r.stats.Bursts)
}

// userFaults is a C program that provides pages of its memory itself: while one thread waits for a
// page, another one starts a third, and fills the page.
const userFaults = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int faults;
static char *area;
static void *nothing(void *p) { return p; }
static void *provide(void *page) {
	for (;;) {
		struct uffd_msg m;
		pthread_t t;
		if (read(faults, &m, sizeof m) != sizeof m) exit(2);
		pthread_create(&t, 0, nothing, 0);
		pthread_join(t, 0);
		unsigned long at = m.arg.pagefault.address & -4096;
		memset(page, (at - (unsigned long)area) >> 12, 4096);
		struct uffdio_copy c = {.dst = at, .src = (unsigned long)page, .len = 4096};
		ioctl(faults, UFFDIO_COPY, &c);
	}
}
int main(int argc, char **argv) {
	long n = atol(argv[1]);
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	if (sysconf(_SC_PAGESIZE) != 4096 || faults < 0 || ioctl(faults, UFFDIO_API, &api)) return 77;
	area = mmap(0, n << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register r = {.range = {(unsigned long)area, n << 12}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	if (ioctl(faults, UFFDIO_REGISTER, &r)) return 77;
	pthread_t t;
	pthread_create(&t, 0, provide, aligned_alloc(4096, 4096));
	unsigned sum = 0;
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < 5000; k++) sum = sum * 31 + k;
		sum += (unsigned char)area[i << 12];
	}
	printf("%u\n", sum);
	return 0;
}
`

// A recorded program goes on that provides pages itself (userfaultfd). The tracer does not wait for
// such a page, because the program may need the tracer to provide it.
func TestUserFaults(t *testing.T) {
	program := build(t, userFaults, "-pthread")
	if err := exec.Command(program, "1").Run(); err != nil {
		t.Skipf("no userfaultfd here: %v", err)
	}
	r := requireSameOutput(t, testenv.Rounds(1, 20), Config{Overhead: 0.5}, program, "1000")
	assert.NotZero(t, r.stats.Bursts)
}
