// Evaluates expressions by virtual calls, and sorts by a function that it is given. The argument is
// train or other.
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

struct Env {
	long v[8];
};

struct Node {
	virtual ~Node() {}
	virtual long eval(Env &e) const = 0;
};
typedef std::unique_ptr<Node> P;

struct Const : Node {
	long n;
	Const(long n) : n(n) {}
	long eval(Env &) const override { return n; }
};

struct Var : Node {
	int i;
	Var(int i) : i(i) {}
	long eval(Env &e) const override { return e.v[i]; }
};

struct Pair : Node {
	P a, b;
	Pair(P a, P b) : a(std::move(a)), b(std::move(b)) {}
};

struct Add : Pair {
	using Pair::Pair;
	long eval(Env &e) const override { return a->eval(e) + b->eval(e); }
};

struct Mul : Pair {
	using Pair::Pair;
	long eval(Env &e) const override { return a->eval(e) * b->eval(e); }
};

struct Div : Pair {
	using Pair::Pair;
	long eval(Env &e) const override {
		long d = b->eval(e);
		return d ? a->eval(e) / d : 0;
	}
};

struct Step {
	virtual ~Step() {}
	virtual void run(Env &e) = 0;
};

struct Set : Step {
	int i;
	P x;
	Set(int i, P x) : i(i), x(std::move(x)) {}
	void run(Env &e) override { e.v[i] = x->eval(e); }
};

struct Increment : Step {
	int i;
	Increment(int i) : i(i) {}
	void run(Env &e) override { e.v[i]++; }
};

typedef int (*Order)(long, long);
static int up(long a, long b) { return a < b ? -1 : a > b; }
static int down(long a, long b) { return -up(a, b); }

__attribute__((noinline)) static void sort(long *v, int n, Order order) {
	for (int i = 1; i < n; i++) {
		long x = v[i];
		int j = i;
		for (; j > 0 && order(v[j - 1], x) > 0; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static P make(unsigned &seed, int depth) {
	seed = seed * 1103515245 + 12345;
	unsigned r = (seed >> 16) % 10;
	if (depth == 0 || r < 2)
		return r ? P(new Var(r % 8)) : P(new Const(3));
	if (r < 8)
		return P(new Add(P(new Var(r)), make(seed, depth - 1)));
	if (r < 9)
		return P(new Div(make(seed, depth - 1), P(new Var(r % 8))));
	return P(new Mul(make(seed, depth - 1), make(seed, depth - 1)));
}

int main(int argc, char **argv) {
	bool train = argc > 1 && !strcmp(argv[1], "train");
	unsigned seed = train ? 5 : 7;
	std::vector<std::unique_ptr<Step>> steps;
	for (int i = 0; i < 200; i++)
		if (i % 4 == 3)
			steps.emplace_back(new Set(i % 8, make(seed, 6)));
		else
			steps.emplace_back(new Increment(i % 8));
	Env e = {};
	long sum = 0;
	for (int round = 0; round < (train ? 1000 : 900); round++) {
		for (auto &s : steps)
			s->run(e);
		long v[64];
		for (int i = 0; i < 64; i++)
			v[i] = (e.v[i & 7] * 2654435761u >> (i & 15)) & 1023;
		sort(v, 64, round % 16 ? up : down);
		sum += v[5] + e.v[round % 8];
	}
	printf("%ld\n", sum);
}
