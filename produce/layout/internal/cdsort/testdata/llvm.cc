// Reads call graphs from standard input and writes LLVM's order of the functions of each. The
// declarations are LLVM's own; there is no need of its headers.
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
std::vector<uint64_t> computeCacheDirectedLayout(ArrayRef<uint64_t> sizes, ArrayRef<uint64_t> counts, ArrayRef<EdgeCount> calls, ArrayRef<uint64_t> offsets);
} // namespace codelayout
} // namespace llvm

using namespace llvm::codelayout;

static uint64_t number() {
  unsigned long long n = 0;
  if (scanf("%llu", &n) != 1) return 0;
  return n;
}

int main() {
  while (uint64_t functions = number()) {
    std::vector<uint64_t> sizes(functions), counts(functions);
    for (auto &n : sizes) n = number();
    for (auto &n : counts) n = number();
    std::vector<EdgeCount> calls(number());
    std::vector<uint64_t> offsets(calls.size());
    for (size_t i = 0; i < calls.size(); i++) {
      calls[i].src = number(); calls[i].dst = number(); calls[i].count = number(); offsets[i] = number();
    }
    for (auto n : computeCacheDirectedLayout(sizes, counts, calls, offsets)) printf("%llu ", (unsigned long long)n);
    puts("");
  }
}
