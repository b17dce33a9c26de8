#include "table.h"

/* Nothing here has samples of its own but what walk has. */
static long helper(long value, int way)
{
	long sum = way;
	while (value > 0) {
		if (value & 1)
			sum += value;
		else if (value & 2)
			sum -= way;
		value >>= 1;
	}
	return sum;
}

long walk(struct table *t, visitor *visit, long limit)
{
	long sum = 0;
	for (int i = 0; i < SLOTS; i++) {
		for (struct slot *s = t->slots[i]; s; s = s->next) {
			sum += visit(s, limit);
			if (sum > limit)
				sum -= helper(sum, i);
			else
				sum++;
		}
	}
	return sum;
}

long report(struct table *t)
{
	long sum = 0;
	for (unsigned long key = 1; key < 4096; key *= 3) {
		struct slot *s = find(t, key);
		if (s)
			sum += helper(s->value, 4);
		else
			sum ^= helper(key, 5);
	}
	return sum;
}
