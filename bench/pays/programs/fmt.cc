// Formats numbers, strings and floating point.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "fmt/format.h"

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  size_t n = 0;
  unsigned s = 42;
  for (int i = 0; i < 20000; i++) {
    s = s * 1103515245u + 12345u;
    fmt::memory_buffer b;
    if (other)
      fmt::format_to(std::back_inserter(b), fmt::runtime("{:>12}|{:e}|{:#b}"), s, s * 0.25, s % 4096);
    else
      fmt::format_to(std::back_inserter(b), fmt::runtime("{}: {:08x} {:.3f} [{:<10}]"), i, s, s / 1000.0, s % 3 ? "left" : "right");
    n += b.size();
  }
  printf("%zu\n", n);
}
