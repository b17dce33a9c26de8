// Functions whose names are hard to find in the text.

#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

int sink;

#define WORK(x) do { for (int i = 0; i < (x) % 100 + 3; i++) { if ((x) & i) sink += i * 3; else sink ^= (x) + i; } } while (0)

struct Number {
  int n;
  std::string text;
  Number(int x) : n(x) { }
  compl Number() { WORK(n); }
  Number& operator
  += (int x) { WORK(x); n += x; return *this; }
  int operator [ ] (int x) { WORK(x); return n; }
  static void* operator new [ ] (size_t n) { WORK(int(n)); return malloc(n); }
};

bool operator and(const Number& a, const Number& b) { WORK(a.n + b.n); return a.n; }
bool operator not(const Number& a) { WORK(a.n); return !a.n; }
Number operator bitor(const Number& a, const Number& b) { WORK(a.n - b.n); return Number(a.n | b.n); }

template <class T> struct Added { T v; };
template <class T> int operator+(Added<T> a, int x);
template <> int operator+<int>(Added<int> a, int x) { WORK(x + a.v); return a.v + x; }

template <int N> auto compared(int x) -> std::enable_if_t<N == 3, int> { WORK(x); return x; }
template <class... T> auto counted(T... x) -> std::enable_if_t<sizeof...(T) <= 4, int> { WORK(int(sizeof...(x))); return 1; }

constexpr int three = 3, five = 5;
template <bool B> int angled(int x);
template <> int angled<(three < five)>(int x) { WORK(x); return x; }
template <> int angled<(three > five)>(int x) { WORK(x); return -x; }

// Classes whose constructors and assignments the compiler makes.
struct alignas(2 * 16) Aligned { int n; std::string text; };
struct __attribute__((unused, aligned(32))) Attributed { int n; std::string text; };
struct [[gnu::unused, gnu::aligned(32)]] Listed { int n; std::string text; std::vector<Aligned> more; };
typedef struct { int n; std::string text; int work(int x) { WORK(x); return n; } } *Pointer, Named;
typedef struct { typedef std::vector<int> List; List list; int n; std::string text; } Outer;

template <class T> int copied(T t)
{
  T a = t, b(a), c = std::move(a);
  b = c;
  c = std::move(b);
  return a.n + c.n;
}

// The size of the array is part of the name, as a number.
template <class T> __attribute__((noinline)) int sized(T (&a)[8], typename std::remove_reference<decltype(a[0])>::type x) { WORK(x); return a[x % 8]; }

// What programs replace, and what runs before and after main.
void* operator new(size_t n) { if (n > 100) WORK(int(n)); else if (n & 8) { WORK(int(n) + 1); WORK(sink); } return malloc(n); }
void operator delete(void* p) noexcept { if (sink & 1) WORK(p != nullptr); else { WORK(sink); WORK(sink + 3); } free(p); }
void operator delete(void* p, size_t n) noexcept { if (n > 64) WORK(int(n)); else { WORK(sink + 1); WORK(sink - 3); } free(p); }
struct Place { };
void* operator new(size_t n, Place*) { if (n > 3) WORK(int(n) + 7); else { WORK(sink); WORK(sink + 5); } return malloc(n); }
struct Kept { std::string text; Kept() : text("x") { WORK(sink & 7); } ~Kept() { if (sink > 7) WORK(int(text.size()) + sink); else { WORK(sink); WORK(sink + 9); } } };
Kept kept[3];

int main(int argc, char** argv)
{
  new (static_cast<Place*>(nullptr)) int(argc);
  Number a(argc), b = a bitor Number(3), *p = new Number[1] { 4 };
  a += 3;
  int n[8] = { };
  if ((a and b) || not a || p[0][argc]) sink++;
  return a[argc] + (Added<int>{ argc } + 2) + compared<3>(argc) + counted(1, argc) + angled<true>(argc) + angled<false>(argc) +
    copied(Aligned{ argc }) + copied(Attributed{ argc }) + copied(Listed{ argc }) + copied(Named{ argc }) + copied(Outer{ { }, argc }) + Named{ argc }.work(argc) +
    sized(n, argc) + !argv;
}
