#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *name;
	size_t length;
	unsigned hash;
	long value;
};

struct table {
	struct entry *entries;
	size_t capacity, used;
};

static void fail(const char *what) {
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void *allocate(size_t n, size_t size) {
	void *p = calloc(n, size);
	if (!p)
		fail("out of memory");
	return p;
}

struct table *table_new(void) {
	struct table *t = allocate(1, sizeof *t);
	t->capacity = 64;
	t->entries = allocate(t->capacity, sizeof *t->entries);
	return t;
}

size_t table_size(const struct table *t) { return t->used; }

static unsigned mix(unsigned h, unsigned char c) { return (h ^ c) * 16777619u; }

static unsigned hash(const char *name, size_t length) {
	unsigned h = 2166136261u;
	for (size_t i = 0; i < length; i++)
		h = mix(h, name[i]);
	return h;
}

static int same(const struct entry *e, const char *name, size_t length, unsigned h) {
	if (e->hash != h || e->length != length)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (e->name[i] != name[i])
			return 0;
	return 1;
}

static struct entry *find(struct table *t, const char *name, size_t length, unsigned h) {
	size_t i = h & (t->capacity - 1);
	while (t->entries[i].name && !same(&t->entries[i], name, length, h))
		i = (i + 1) & (t->capacity - 1);
	return &t->entries[i];
}

static void grow(struct table *t) {
	struct entry *old = t->entries;
	size_t n = t->capacity;
	t->capacity *= 2;
	t->entries = allocate(t->capacity, sizeof *t->entries);
	for (size_t i = 0; i < n; i++)
		if (old[i].name)
			*find(t, old[i].name, old[i].length, old[i].hash) = old[i];
	free(old);
}

static struct entry *insert(struct table *t, const char *name, size_t length, unsigned h) {
	if (2 * t->used >= t->capacity)
		grow(t);
	struct entry *e = find(t, name, length, h);
	e->name = memcpy(allocate(length + 1, 1), name, length);
	e->length = length;
	e->hash = h;
	t->used++;
	return e;
}

void table_add(struct table *t, const char *name, size_t length, long n) {
	unsigned h = hash(name, length);
	struct entry *e = find(t, name, length, h);
	if (!e->name)
		e = insert(t, name, length, h);
	e->value += n;
}

static int before(const struct entry *a, const struct entry *b) {
	if (a->value != b->value)
		return a->value > b->value;
	return strcmp(a->name, b->name) < 0;
}

static void sift(struct entry *heap, size_t n, size_t i) {
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(&heap[child], &heap[child + 1]))
			child++;
		if (!before(&heap[i], &heap[child]))
			return;
		struct entry e = heap[i];
		heap[i] = heap[child];
		heap[child] = e;
	}
}

void table_print(struct table *t, size_t most) {
	struct entry *list = allocate(t->used + 1, sizeof *list);
	size_t n = 0;
	for (size_t i = 0; i < t->capacity; i++)
		if (t->entries[i].name)
			list[n++] = t->entries[i];
	for (size_t i = n / 2; i-- > 0;)
		sift(list, n, i);
	for (size_t left = n; left > 1;) {
		struct entry e = list[0];
		list[0] = list[--left];
		list[left] = e;
		sift(list, left, 0);
	}
	for (size_t i = 0; i < n && i < most; i++)
		printf("%7ld %s\n", list[i].value, list[i].name);
	free(list);
}
