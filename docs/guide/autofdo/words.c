/* Counts the words of its input and prints the most frequent ones. */
#include <stdio.h>
#include <stdlib.h>

#include "table.h"

static char *read_all(FILE *in, size_t *size) {
	size_t capacity = 1 << 16, n = 0, got;
	char *text = malloc(capacity);
	while (text && (got = fread(text + n, 1, capacity - n, in)) > 0) {
		n += got;
		if (n == capacity)
			text = realloc(text, capacity *= 2);
	}
	*size = n;
	return text;
}

static int upper(char c) { return c >= 'A' && c <= 'Z'; }
static int letter(char c) { return (c >= 'a' && c <= 'z') || upper(c); }
static int digit(char c) { return c >= '0' && c <= '9'; }

static char fold(char c) { return upper(c) ? c - 'A' + 'a' : c; }

static int inside(const char *text, size_t at, size_t size) {
	if (letter(text[at]) || digit(text[at]) || text[at] == '_')
		return 1;
	/* don't, well-known */
	return (text[at] == '\'' || text[at] == '-') && at + 1 < size && letter(text[at + 1]);
}

/* next finds the next word and returns where it ends. */
static size_t next(char *text, size_t at, size_t size, size_t *start) {
	while (at < size && !inside(text, at, size))
		at++;
	*start = at;
	for (; at < size && inside(text, at, size); at++)
		text[at] = fold(text[at]);
	return at;
}

int main(void) {
	size_t size, start;
	char *text = read_all(stdin, &size);
	struct table *words = table_new();
	if (!text)
		return 1;
	for (size_t at = 0; (at = next(text, at, size, &start)) > start;)
		table_add(words, text + start, at - start, 1);
	table_print(words, 10);
	printf("%zu words\n", table_size(words));
	return 0;
}
