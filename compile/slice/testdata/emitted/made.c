/* Functions that the compiler makes of those that the text spells. */
#pragma omp declare simd
int twice(int x) { return 2 * x; }

__attribute__((target_clones("avx2", "default"))) int sum(const int *v, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += v[i];
  return s;
}

static void begin(void) __attribute__((constructor));
static int begun;
static void begin(void) { begun++; }

int nested(int n) {
  int inner(int x) { return x + n; }
  return inner(n) + begun;
}

void parallel(int *v, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    v[i] = twice(v[i]);
}

int renamed(void) __asm__("_ZN3abc3defEv");
int renamed(void) { return 1; }
int _Z7spelledv(void) { return 2; }
