// The programs tiny4.so and tiny5.so are made of this, with and without compressed sections:
// gcc -O2 -g -gdwarf-5 -shared -nostdlib -fPIC -Wl,--build-id=none,-z,noseparate-code tiny.c -o tiny5.so
// and tinyp.so for big-endian PowerPC, by powerpc64-linux-gnu-gcc, also with -z max-page-size=4096.
static inline int twice(int x) {
  return x * 2;
}
static inline int more(int x, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += twice(x) ^ i;
  return s;
}
int tiny(int n) {
  return more(n, 7) + twice(n);
}
int other(int n) {
  return n > 3 ? more(n, 2) : n;
}
