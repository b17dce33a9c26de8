#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static int leaf(int x) { return x % 3 ? x : -x; }
int twice(int x) { return 2 * leaf(x); }
int thrice(int x) { return 3 * leaf(x); }
int never(int x) { return x ? 4 : 5; }
int (*volatile table[2])(int) = {twice, thrice};
int main(int argc, char **argv) {
  char a[600], b[600]; long s = 0;
  memset(b, 1, sizeof b);
  for (int i = 0; i < 100; i++) {
    s += table[i % 5 == 0](i);
    int n = i % 7 * argc * 40;
    memcpy(a, b, n); s += a[0];
    if ((i > 3 && i < 50) || i == 77) s++;
  }
  if (argc > 1) s += atoi(argv[1]);
  switch (s & 3) { case 0: s++; break; case 1: s += 2; break; default: s--; }
  printf("%ld\n", s);
  return 0;
}
