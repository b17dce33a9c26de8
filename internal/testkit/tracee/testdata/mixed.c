// A program without end that uses instructions of many kinds.
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
		uint64_t z = 99;
#ifdef __x86_64__
		{ void *from = buf, *to = other; long n = 20; __asm__ volatile("cld; rep movsb" : "+S"(from), "+D"(to), "+c"(n) :: "memory");
		to = buf; n = 4; __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(77L) : "memory"); }
		{ void *at = other; __asm__ volatile("repne scasb" : "+c"(z), "+D"(at) : "a"(21L) : "memory", "cc"); } out += z;
		__asm__ volatile("rcl $0, %0; shld $5, %1, %0; shrd $9, %1, %0; adc %1, %0; sbb $3, %0; rol $3, %0; ror $7, %0; sahf; cmc" : "+r"(z) : "r"(out) : "cc", "rax");
#endif
		__atomic_fetch_add(&x, 0, 5); uint64_t expected = z; __atomic_compare_exchange_n(&x, &expected, 5, 0, 5, 5); out += __atomic_exchange_n(&k, 9, 5);
		out += fib(7); char s[40]; memset(s, 1, 40); memcpy(s, buf, 33); out += s[next() & 31]; if (!x) x = 1;
		switch (next() & 7) { case 0: out++; break; case 1: out *= 3; break; case 2: out ^= 5; break; case 3: out -= 9; break; case 4: out += 8; break; case 5: out |= 1; break; case 6: out &= 0xfff; break; default: out = 4; }
	}
}
