#include <stdio.h>
struct Base { virtual int f(int x) = 0; virtual ~Base() {} };
struct A : Base { int f(int x) override { return x + 1; } };
struct B : Base { int f(int x) override { return x * 2; } };
namespace { struct C : Base { int f(int x) override { return x - 3; } }; }
__attribute__((noinline)) int call(Base *b, int x) { return b->f(x); }
template <class T> T add(T a, T b) { return a > b ? a + b : a - b; }
int main(int argc, char **argv) {
  A a; B b; C c; Base *t[3] = {&a, &b, &c};
  long s = 0;
  for (int i = 0; i < 60; i++) s += call(t[i % 10 == 0 ? 1 : i % 7 == 0 ? 2 : 0], i) + add<long>(i, argc) + add<short>(3, i);
  printf("%ld\n", s);
}
