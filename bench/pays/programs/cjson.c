/* Makes, prints and reads documents of JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"

static unsigned state = 42;
static unsigned next(void) { return state = state * 1103515245u + 12345u, state >> 8; }

static cJSON *make(int other) {
	cJSON *list = cJSON_CreateArray();
	for (int i = 0; i < 400; i++) {
		cJSON *item = cJSON_CreateObject();
		cJSON_AddNumberToObject(item, "id", i);
		cJSON_AddNumberToObject(item, "price", next() % 10000 / 100.0);
		cJSON_AddStringToObject(item, "name", next() % 4 ? "plain text" : "a \"quoted\"\n\tname \xc3\xa9");
		if (other) cJSON_AddBoolToObject(item, "shown", next() % 2);
		cJSON_AddItemToArray(list, item);
	}
	return list;
}

int main(int argc, char **argv) {
	int other = argc > 1 && !strcmp(argv[1], "other");
	double total = 0;
	for (int round = 0; round < (other ? 4 : 6); round++) {
		cJSON *made = make(other), *read, *item;
		char *text = round % 2 ? cJSON_Print(made) : cJSON_PrintUnformatted(made);
		read = cJSON_Parse(text);
		if (!read || !cJSON_Compare(made, read, 1)) return 1;
		cJSON_ArrayForEach(item, read) {
			total += cJSON_GetObjectItem(item, "price")->valuedouble;
			total += strlen(cJSON_GetObjectItemCaseSensitive(item, "name")->valuestring);
		}
		free(text);
		cJSON_Delete(made);
		cJSON_Delete(read);
	}
	printf("%.2f\n", total);
	return 0;
}
