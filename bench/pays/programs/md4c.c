/* Makes documents of Markdown and turns them into HTML. */
#include <stdio.h>
#include <string.h>
#include "md4c-html.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static char text[1 << 18];
static size_t length;
static unsigned long total;

static void add(const char *s) {
	size_t n = strlen(s);
	memcpy(text + length, s, n);
	length += n;
}

static void paragraph(int other) {
	for (int i = 0; i < 40; i++) {
		switch (next() % 12) {
		case 0: add("*some words* "); break;
		case 1: add("**others** "); break;
		case 2: add("`code` "); break;
		case 3: add("[a link](http://example.org/page \"title\") "); break;
		case 4: add("&amp; &copy; "); break;
		case 5: add(other ? "~~gone~~ " : "\\*no\\* "); break;
		case 6: add("http://example.org\n"); break;
		default: add("plain words, ");
		}
	}
	add("\n\n");
}

static void make(int other) {
	length = 0;
	for (int i = 0; i < 60; i++) {
		add(i % 2 ? "## Heading\n\n" : "Heading\n=======\n\n");
		paragraph(other);
		add("* item\n* other item\n  1. first\n  2. second\n\n> quoted\n> words\n\n");
		if (i % 3 == 0) add("| a | b |\n|---|--:|\n| 1 | 2 |\n| *3* | 4 |\n\n");
		if (i % 4 == 0) add("```c\nint main(void) { return 0; }\n```\n\n    indented\n\n");
	}
}

static void count(const MD_CHAR *html, MD_SIZE size, void *data) {
	(void)data;
	for (MD_SIZE i = 0; i < size; i += 64) total += (unsigned char)html[i];
	total += size;
}

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	for (int round = 0; round < (other ? 4 : 6); round++) {
		make(other);
		if (md_html(text, (MD_SIZE)length, count, 0, MD_DIALECT_GITHUB, 0)) return 1;
	}
	printf("%lu\n", total);
	return 0;
}
