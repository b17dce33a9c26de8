#include <stdlib.h>

#include "table.h"

/* Files have functions of this name each. */
static long helper(long value, int way)
{
	long sum = 0;
	for (long i = 0; i < (value & 31); i++) {
		switch ((i + way) % 5) {
		case 0:
			sum += i * value;
			break;
		case 1:
			sum ^= i;
			break;
		case 3:
			sum -= value >> 3;
			break;
		default:
			if (way > 2)
				sum += 7;
		}
	}
	return sum;
}

/* The check at the start is worth inlining alone: the rest becomes grow.part.0. */
static void grow(struct table *t, long by)
{
	if (t->used < 10)
		return;
	for (int i = 0; i < SLOTS; i++) {
		struct slot *s = t->slots[i];
		while (s && s->next) {
			struct slot *gone = s->next;
			if (gone->value % 1000 == by) {
				s->next = gone->next;
				free(gone);
				t->used--;
			} else {
				s->value += helper(gone->value, 3);
			}
			s = s->next;
		}
	}
}

static __attribute__((noinline)) struct slot *make(unsigned long key, long value, int zero)
{
	struct slot *s = malloc(sizeof *s);
	if (!s)
		abort();
	s->key = key;
	s->value = zero ? 0 : value;
	s->next = 0;
	return s;
}

long insert(struct table *t, unsigned long key, long value)
{
	struct slot *s = find(t, key);
	if (s) {
		s->value += helper(value, 1);
		return s->value;
	}
	s = make(key, value, 0);
	s->next = t->slots[mix(key) % SLOTS];
	t->slots[mix(key) % SLOTS] = s;
	t->used++;
	grow(t, 3);
	if (t->used > 100)
		grow(t, 5);
	return helper(value, 2);
}
