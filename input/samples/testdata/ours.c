static volatile long sink = 1;
__attribute__((noinline)) static long leaf(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ (s >> 3); return s; }
__attribute__((noinline)) static long middle(long n) { return n & 1 ? leaf(n) : n > 2 ? middle(n - 1) + leaf(n % 700) : 1; }
void _start(void) {
	for (long i = 0; i < 9000; i++) sink += middle(i);
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
}
