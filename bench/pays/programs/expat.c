/* Reads documents of XML, with and without namespaces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "expat.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static char *make(int other) {
	char *text = malloc(400000), *to = text;
	to += sprintf(to, "<?xml version=\"1.0\" encoding=\"%s\"?>\n<!DOCTYPE shop [<!ENTITY shop \"the shop\">]>\n<shop xmlns:x=\"urn:x\">\n", other ? "iso-8859-1" : "utf-8");
	for (int i = 0; i < 1500; i++) {
		to += sprintf(to, "  <%sitem id=\"%d\" price='%u.%02u'>", other ? "x:" : "", i, next() % 100, next() % 100);
		to += sprintf(to, "%s", next() % 4 ? "plain text of some length" : "a &lt; b &amp; &shop;");
		if (next() % 8 == 0) to += sprintf(to, "<!-- seldom --><![CDATA[<raw>]]>");
		to += sprintf(to, "</%sitem>\n", other ? "x:" : "");
	}
	strcpy(to, "</shop>\n");
	return text;
}

static size_t seen;
static void start(void *u, const XML_Char *name, const XML_Char **a) { for (seen += strlen(name); *a; a++) seen += strlen(*a); }
static void stop(void *u, const XML_Char *name) { seen++; }
static void chars(void *u, const XML_Char *s, int n) { seen += n; }

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	char *text = make(other);
	for (int round = 0; round < 6; round++) {
		XML_Parser p = round % 3 == 2 || other ? XML_ParserCreateNS(NULL, '|') : XML_ParserCreate(NULL);
		size_t n = strlen(text), at = 0;
		XML_SetElementHandler(p, start, stop);
		XML_SetCharacterDataHandler(p, chars);
		for (; at < n; at += 4096)
			if (!XML_Parse(p, text + at, (int)(n - at < 4096 ? n - at : 4096), n - at <= 4096)) return 1;
		XML_ParserFree(p);
	}
	printf("%zu\n", seen);
	return 0;
}
