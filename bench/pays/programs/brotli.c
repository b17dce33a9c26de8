/* Packs and unpacks text or numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <brotli/decode.h>
#include <brotli/encode.h>

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
	int other = argc > 1 && !strcmp(argv[1], "other");
	size_t bound = BrotliEncoderMaxCompressedSize(size);
	uint8_t *in = malloc(size), *packed = malloc(bound), *out = malloc(size);
	for (int round = 0; round < 4; round++) {
		size_t n = fill((char *)in, size, other), p = bound, u = size;
		if (!BrotliEncoderCompress(round + 4, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, n, in, &p, packed)) return 1;
		for (int again = 0; again < 4; again++, u = size)
			if (BrotliDecoderDecompress(p, packed, &u, out) != BROTLI_DECODER_RESULT_SUCCESS || u != n || memcmp(in, out, n)) return 1;
		printf("%zu\n", p);
	}
	return 0;
}
