#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sum(int n) {
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			s += i;
		else
			s -= 1;
	}
	return s;
}

static int next(int n) { return n + 1; }

int never(int x) { return x ? abs(x) : 7; }

typedef int (*function)(int);

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 10;
	if (n < 0)
		exit(3);
	switch (n % 5) {
	case 0:
		puts("a");
		break;
	case 1:
		puts("b"); /* fall through */
	default:
		puts("c");
	}
	function table[3] = {sum, next, never};
	int r = 0;
	char buffer[64];
	for (int i = 0; i < n * n; i++) {
		r += table[i % 2](i % 7);
		memset(buffer, i, (i % 2) * 8 + 8);
		r += buffer[3] + i / (n % 8 + 1) + i % (n | 1);
	}
	printf("%d\n", r);
	return 0;
}
