/* A hash table whose small functions every file has for itself. */
#ifndef TABLE_H
#define TABLE_H

#define SLOTS 1024

struct slot {
	unsigned long key;
	long value;
	struct slot *next;
};

struct table {
	struct slot *slots[SLOTS];
	long used;
};

typedef long visitor(struct slot *, long);

static inline unsigned long mix(unsigned long key)
{
	key ^= key >> 33;
	if (key & 1)
		key *= 0xff51afd7ed558ccdUL;
	else
		key += key << 7;
	return key ^ key >> 29;
}

static inline struct slot *find(struct table *t, unsigned long key)
{
	struct slot *s = t->slots[mix(key) % SLOTS];
	while (s) {
		if (s->key == key)
			return s;
		s = s->next;
	}
	return 0;
}

long insert(struct table *, unsigned long key, long value);
long walk(struct table *, visitor *, long);
long report(struct table *);

#endif
