// Packs text or numbers with several threads, and unpacks them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zstd.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static size_t text(char *to, size_t size) {
	static const char *words[] = {"profile ", "branch ", "the ", "of ", "and ", "count ", "function ", "a ", "unit.\n", "inlined ", "is "};
	size_t n = 0;
	while (n + 16 < size) { const char *w = words[next() % 11]; strcpy(to + n, w); n += strlen(w); if (next() % 9 == 0) n += sprintf(to + n, "%u ", next() % 5000); }
	return n;
}

static size_t numbers(char *to, size_t size) {
	size_t n = 0;
	for (unsigned v = 1000; n + 8 < size; n += 8) { v += next() % 37; memcpy(to + n, &v, 4); unsigned w = next() % 3 ? 7 : next(); memcpy(to + n + 4, &w, 4); }
	return n;
}

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	size_t size = 2400000, bound = ZSTD_compressBound(size);
	char *in = malloc(size), *packed = malloc(bound), *out = malloc(size);
	size_t n = other ? numbers(in, size) : text(in, size);
	ZSTD_CCtx *c = ZSTD_createCCtx();
	if (ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_nbWorkers, 4))) return 1;
	ZSTD_CCtx_setParameter(c, ZSTD_c_jobSize, 1 << 19); // the smallest, so that all threads have work
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, other ? 4 : 5);
	size_t p = ZSTD_compress2(c, packed, bound, in, n);
	if (ZSTD_isError(p) || ZSTD_decompress(out, size, packed, p) != n || memcmp(in, out, n)) return 1;
	printf("%zu\n", p);
	ZSTD_freeCCtx(c);
	return 0;
}
