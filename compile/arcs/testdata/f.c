#include <string.h>
int g(int a); 
static inline int sq(int x) { if (x > 10) return x*x; return g(x); }
int f(int n, const char *s) {
  int r = 0;
  for (int i = 0; i < n; i++) { r += (i & 1) ? sq(i) : 3; if (s[i] == 'a' || s[i] == 'b') r ^= sq(r); }
  switch (n) { case 1: return g(2); case 2: case 3: return g(9); case 7: r += strlen(s); }
  return r;
}
