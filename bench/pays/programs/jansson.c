/* Makes, prints and reads documents of JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "jansson.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static json_t *make(int other) {
	json_t *list = json_array();
	for (int i = 0; i < 400; i++) {
		json_t *item = json_object();
		json_object_set_new(item, "id", json_integer(i));
		json_object_set_new(item, "price", json_real(next() % 10000 / 100.0));
		json_object_set_new(item, "name", json_string(next() % 4 ? "plain text" : "a \"quoted\"\n\tname \xc3\xa9"));
		if (other) json_object_set_new(item, "shown", json_boolean(next() % 2));
		json_array_append_new(list, item);
	}
	return list;
}

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	double total = 0;
	for (int round = 0; round < (other ? 4 : 6); round++) {
		json_t *made = make(other), *read, *item;
		char *text = json_dumps(made, round % 2 ? JSON_INDENT(2) | JSON_SORT_KEYS : JSON_COMPACT);
		json_error_t error;
		size_t i;
		read = json_loads(text, 0, &error);
		if (!read || json_array_size(read) != json_array_size(made)) return 1;
		json_array_foreach(read, i, item) {
			total += json_real_value(json_object_get(item, "price"));
			total += strlen(json_string_value(json_object_get(item, "name")));
		}
		free(text);
		json_decref(made);
		json_decref(read);
	}
	printf("%.2f\n", total);
	return 0;
}
