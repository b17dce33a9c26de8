// Templates, lambdas, constructors with two symbols, virtual calls, statics of one name and code
// that several inlined functions share: what names and inline chains are made of.

// What follows stays on its lines, some of which tests know.



#include "library.h"
#include "shapes.h"

namespace {
struct square : shape {
  explicit square(int n) : side(n) {}
  int area() const override { return side * side; }
  int side;
};
template <class T, int N> struct ring {
  T at[N] = {};
  int next = 0;
  void put(T v) { at[next++ % N] = v; }
  T sum() const {
    T s{};
    for (auto& v : at) s += v;
    return s;
  }
};
int helper(int x) { return clamp(x, 3, 90) * 3; }
}  // namespace

shape::~shape() {}
rectangle::rectangle(int a, int b) : w(a), h(b) {
  if (a > 1000) throw std::string("too wide");
}
int rectangle::area() const { return w * h; }

template <class F> __attribute__((noinline)) int apply(int n, F f) {
  int s = 0;
  for (int i = 0; i < n; i++) s += f(i);
  return s;
}

struct counter {
  static int count;
  struct inner {
    __attribute__((noinline)) int bump(int by) {
      struct local {
        static int twice(int x) { return x * 2 + count; }
      };
      return count += local::twice(by);
    }
  };
};
int counter::count;

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20, total = 0;
  std::vector<shape*> shapes;
  for (int i = 0; i < n; i++)
    if (i % 3) shapes.push_back(new square(i)); else shapes.push_back(new rectangle(i, i + 1));
  for (auto s : shapes) total += s->area();
  ring<int, 8> r;
  total += apply(n, [&](int i) {
    r.put(i * 7 % 5);
    auto deep = [total](int q) { return q > 4 ? helper(q) : total & 3; };
    return deep(i) + r.sum();
  });
  std::function<int(int)> f = [n](int q) { return q * n % 7; };
  std::sort(shapes.begin(), shapes.end(), [](const shape* a, const shape* b) { return a->area() > b->area(); });
  counter::inner c;
  total += apply(n, f) + c.bump(total) + other(n);
  printf("%d %d\n", total, shapes[0]->area());
  return 0;
}
