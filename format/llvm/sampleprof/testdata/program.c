extern int next(int);
static __attribute__((noinline)) int small(int x) { return next(x) * 3 + 1; }
int big(int x) {
  int sum = 0;
  for (int i = 0; i < x; i++) {
    sum += next(i) * 3;
    if (sum > 100) sum -= small(sum);
    if (sum < -100) sum += next(-sum);
  }
  return sum;
}
int run(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += big(i);
  return sum;
}
int next(int x) { return x ^ 0x55; }
int main(int argc, char **argv) { int s = 0; for (int i = 0; i < 1000; i++) s += run(argc + i % 7); return s & 1; }
