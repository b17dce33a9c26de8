/* Parses and writes YAML: lists of numbers or nested maps with text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static int text(char *to, int size, int other) {
	int n = 0;
	for (int i = 0; n + 200 < size; i++)
		n += other ? sprintf(to + n, "- [%d, %d.5, -%d]\n- {x: %d, y: \"%d\"}\n", i, i * 7, i, i % 10, i * i % 1000)
			: sprintf(to + n, "entry%d:\n  name: profile %d\n  # a remark\n  tags: &t%d [branch, 'count', \"line\\n%d\"]\n  text: |\n    unit %d\n    function\n", i, i % 17, i, i, i);
	return n;
}

int main(int argc, char **argv) {
	enum { size = 150000 };
	int other = argc > 1 && !strcmp(argv[1], "other");
	unsigned char *in = malloc(size), *out = malloc(4 * size);
	int n = text((char *)in, size, other);
	for (int round = 0; round < 2; round++) {
		yaml_parser_t parser;
		yaml_emitter_t emitter;
		yaml_event_t event;
		size_t written = 0;
		if (!yaml_parser_initialize(&parser) || !yaml_emitter_initialize(&emitter)) return 1;
		yaml_parser_set_input_string(&parser, in, n);
		yaml_emitter_set_output_string(&emitter, out, 4 * size, &written);
		for (int end = 0; !end;) {
			if (!yaml_parser_parse(&parser, &event)) return 1;
			end = event.type == YAML_STREAM_END_EVENT;
			if (!yaml_emitter_emit(&emitter, &event)) return 1;
		}
		yaml_parser_delete(&parser);
		yaml_emitter_delete(&emitter);
		printf("%zu\n", written);
	}
	return 0;
}
