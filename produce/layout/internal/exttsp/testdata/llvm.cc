// Reads functions from standard input and writes LLVM's order of the blocks of each, and the scores
// of this order and of the one that was read. The declarations are LLVM's own; there is no need of
// its headers.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace llvm {
template <class T> struct ArrayRef {
  const T *data;
  size_t length;
  ArrayRef(const std::vector<T> &v) : data(v.data()), length(v.size()) {}
};
namespace codelayout {
struct EdgeCount { uint64_t src, dst, count; };
std::vector<uint64_t> computeExtTspLayout(ArrayRef<uint64_t> sizes, ArrayRef<uint64_t> counts, ArrayRef<EdgeCount> edges);
double calcExtTspScore(ArrayRef<uint64_t> order, ArrayRef<uint64_t> sizes, ArrayRef<EdgeCount> edges);
} // namespace codelayout
} // namespace llvm

using namespace llvm::codelayout;

static uint64_t number() {
  unsigned long long n = 0;
  if (scanf("%llu", &n) != 1) return 0;
  return n;
}

int main() {
  while (uint64_t blocks = number()) {
    std::vector<uint64_t> sizes(blocks), counts(blocks), order(blocks);
    for (auto &n : sizes) n = number();
    for (auto &n : counts) n = number();
    for (auto &n : order) n = number();
    std::vector<EdgeCount> edges(number());
    for (auto &e : edges) { e.src = number(); e.dst = number(); e.count = number(); }
    auto theirs = computeExtTspLayout(sizes, counts, edges);
    printf("%.17g %.17g", calcExtTspScore(theirs, sizes, edges), calcExtTspScore(order, sizes, edges));
    for (auto n : theirs) printf(" %llu", (unsigned long long)n);
    puts("");
  }
}
