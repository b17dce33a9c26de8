// What shapes.cc uses of the C++ library. Where WITHOUT_LIBRARY is defined, it has as little of its
// own: the headers take a compiler longer than all the rest.
#include <cstdio>
#include <cstdlib>
#ifndef WITHOUT_LIBRARY
#include <algorithm>
#include <functional>
#include <string>
#include <vector>
#else
namespace std {
struct string {
  string(const char* s) : text(s) {}
  const char* text;
};
template <class T> struct vector {
  void push_back(T v) {
    if (size % 16 == 0) at = static_cast<T*>(realloc(at, (size + 16) * sizeof(T)));
    at[size++] = v;
  }
  T* begin() { return at; }
  T* end() { return at + size; }
  T& operator[](int i) { return at[i]; }
  T* at = nullptr;
  int size = 0;
};
template <class I, class F> void sort(I first, I last, F less) {
  for (I i = first; i != last; ++i)
    for (I j = i; j != first && less(j[0], j[-1]); --j) {
      auto v = j[0];
      j[0] = j[-1];
      j[-1] = v;
    }
}
template <class> struct function;
template <class R, class A> struct function<R(A)> {
  struct called {
    virtual R call(A a) = 0;
    virtual ~called() {}
  };
  template <class F> struct holder : called {
    holder(F f) : f(f) {}
    R call(A a) override { return f(a); }
    F f;
  };
  template <class F> function(F f) : to(new holder<F>(f)) {}
  R operator()(A a) { return to->call(a); }
  called* to;
};
}  // namespace std
#endif
