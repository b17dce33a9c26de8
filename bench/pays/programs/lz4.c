/* Packs and unpacks text or numbers, fast and well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lz4.h"
#include "lz4hc.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static int fill(char *to, int size, int other) {
	static const char *words[] = {"profile ", "branch ", "the ", "of ", "and ", "count ", "function ", "a ", "unit.\n", "inlined ", "is "};
	int n = 0;
	while (n + 16 < size) {
		if (other) { unsigned v = next() % 3 ? 7 : next(); memcpy(to + n, &v, 4); n += 4; }
		else { const char *w = words[next() % 11]; strcpy(to + n, w); n += strlen(w); }
	}
	return n;
}

int main(int argc, char **argv) {
	enum { size = 200000 };
	int other = argc > 1 && !strcmp(argv[1], "other"), bound = LZ4_compressBound(size);
	char *in = malloc(size), *packed = malloc(bound), *out = malloc(size);
	for (int round = 0; round < 6; round++) {
		int n = fill(in, size, other);
		int p = round % 3 == 2 ? LZ4_compress_HC(in, packed, n, bound, other ? 4 : 9) : LZ4_compress_default(in, packed, n, bound);
		if (p <= 0 || LZ4_decompress_safe(packed, out, p, size) != n || memcmp(in, out, n)) return 1;
		printf("%d\n", p);
	}
	return 0;
}
