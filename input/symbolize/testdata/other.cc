#include "shapes.h"
#define EACH(i, n) for (int i = 0; i < (n); i++)
static int total;
__attribute__((noinline)) static int helper(int x) {
  EACH(i, 4)
    total += clamp(x * i, 2, 17);
  return total;
}
int other(int n) {
  switch (n % 6) {
  case 0: return helper(n);
  case 1: return helper(n + 1) - 1;
  case 2: return clamp(n, 3, 50);
  default: return helper(n) + helper(n - 1);
  }
}
