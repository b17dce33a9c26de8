#include <stdio.h>
#include <stdlib.h>

#include "table.h"

static long rare(struct slot *s, long limit)
{
	long r = 0;
	while (limit > 0 && limit > s->value) {
		limit /= 3;
		r += limit;
	}
	return r;
}

static long common(struct slot *s, long limit)
{
	return s->value < limit ? s->value : limit;
}

long third(struct slot *s, long limit)
{
	return s->value ^ limit;
}

static visitor *visitors[] = {rare, common, third};

static struct table table;

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += insert(&table, mix(i) % 5000, i);
	for (int i = 0; i < 30; i++) {
		visitor *visit = visitors[i % 3];
		struct slot s = {i, sum, 0};
		sum += walk(&table, visit, 1 << i);
		sum ^= visit(&s, i);
	}
	printf("%ld %ld\n", sum, report(&table));
	return 0;
}
