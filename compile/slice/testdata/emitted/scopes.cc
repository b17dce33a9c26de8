// Functions of every kind of scope. All of them are emitted with -fkeep-inline-functions.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace outer::inner {
struct Nested {
	struct Deep {
		struct Deeper {
			int run() const { return 1; }
		};
	};
	friend int befriended(Nested) { return 2; }
	static int counter;
	int initial = [] { return 3; }();
};
int Nested::counter = [] { return 4; }();
} // namespace outer::inner

namespace short_name = outer::inner;

namespace first {
inline namespace __attribute__((visibility("default"))) second {
struct __attribute__((aligned(8))) Attributed {
	operator int() const { return 5; }
	operator outer::inner::Nested() const { return {}; }
	Attributed &operator+=(int) { return *this; }
};
} // namespace second
} // namespace first

typedef struct {
	typedef int value;
	value get() { return 6; }
	struct {
		int get() { return 7; }
	} part;
} Named, *NamedPointer;

typedef struct {
	int get() { return 8; }
} *OnlyPointer;

struct {
	int get() { return 9; }
} typedef Late;

using Alias = struct {
	int get() { return 10; }
};

struct {
	int get() { return 11; }
} unnamed;

enum class Kind { one };

struct alignas(sizeof(int[2])) Base {
	Base(int) {}
	virtual ~Base() {}
	virtual int run(Kind) { return 12; }
};

struct Derived final : Base, private std::function<int(int (*)(struct Mentioned *), decltype(sizeof(1) == 4))> {
	using Base::Base;
	int run(Kind) override { return 13; }
};

template <class T, class U = struct Declared> struct Pair;
template <class T> struct Pair<T *, int> {
	template <class V> int get(V) { return 14; }
	template <class V> operator V() { return V(); }
};
template <> struct Pair<int, int> {
	int get() { return 15; }
};
template <class T> int Pair_get(Pair<T> *) { return 16; }

template <class T> struct Holder {
	struct Part {
		T value;
		~Part() {}
	};
	static auto make() { return [](Part p) { return p.value; }; }
};

namespace {
union Hidden {
	int a;
	float b;
	int get() { return a; }
};
template <int N, char... C> struct Literal {
	static int get() { return N + sizeof...(C); }
};
} // namespace

namespace std {
template <> struct hash<Named> {
	size_t operator()(const Named &) const { return 17; }
};
} // namespace std

struct [[nodiscard]] [[gnu::abi_tag("tagged")]] Tagged {
	int get() { return 18; }
};
[[gnu::abi_tag("other")]] int tagged() { return 19; }
unsigned long operator""_literal(unsigned long long v) { return v; }

template <class T> auto bounded(const T &a) -> decltype(a[0]) { return a[0]; }
int aliased() __asm__("alias_of_it");
int aliased() { return 20; }

static int local()
{
	struct Local {
		int get() { return 21; }
		static int call()
		{
			struct Inner {
				int get() { return 22; }
			};
			return Inner().get();
		}
	};
	auto twice = [](auto x) {
		struct InLambda {
			int get() { return 23; }
		};
		return x + InLambda().get();
	};
	int (*plain)(int) = [](int x) { return x; };
	return Local().get() + Local::call() + twice(1) + twice(2L) + plain(3);
}

int use()
{
	Named named;
	OnlyPointer pointer = nullptr;
	Late late;
	Alias alias;
	Derived derived(1);
	Pair<int *, int> pair;
	std::map<std::string, std::vector<std::unique_ptr<Derived>>> map;
	map["x"].push_back(std::make_unique<Derived>(2));
	std::function<int()> f = [&] { return named.get() + named.part.get(); };
	first::Attributed attributed;
	attributed += Literal<3, 'a', 'b'>::get();
	Hidden hidden{1};
	short_name::Nested::Deep::Deeper deeper;
	short_name::Nested nested = attributed;
	return f() + late.get() + alias.get() + unnamed.get() + derived.run(Kind::one) + pair.get(named) + int(pair) +
	       Pair<int, int>().get() + Pair_get<long>(nullptr) + Holder<int>::make()({1}) + hidden.get() + Tagged().get() +
	       tagged() + bounded("abc") + aliased() + local() + deeper.run() + befriended(nested) + int(attributed) +
	       int(std::hash<Named>()(named)) + int(2_literal) + (pointer ? pointer->get() : 0);
}

// The initializer of a template of variables: its name is before the lambda's, as a scope would be.
template <class T> int initialized = [](int x) { return x + int(sizeof(T)); }(3);
int use_initialized() { return initialized<int> + initialized<char>; }
