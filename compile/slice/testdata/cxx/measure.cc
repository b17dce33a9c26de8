#include "shapes.h"

namespace {

long helper(long v)
{
	long r = v;
	do {
		if (r & 4)
			r -= 3;
		else
			r >>= 1;
	} while (r > 10);
	return r;
}

struct Box : Shape {
	long w, h;
	Box(long w, long h) : w(w), h(h) { name = "box"; }
	long area(long scale) const override { return w * h * scale; }
};

struct Ring : Shape {
	long r;
	explicit Ring(long r) : r(r) { name = "a ring"; }
	long area(long scale) const override
	{
		long a = 0;
		for (long i = 0; i < r; i++) {
			if (i % 2)
				a += scale;
			else
				a -= helper(i);
		}
		return a;
	}
};

} // namespace

long measure(Grid<long> &grid, long n)
{
	std::vector<long> order;
	for (long i = 0; i < n % 1000; i++)
		order.push_back(grid.at(i * 7) + clamp_to(i, 5L, 90L));
	std::sort(order.begin(), order.end(), [n](long a, long b) {
		if (a % 3 == n % 3)
			return a < b;
		return b < a;
	});
	long sum = 0;
	for (long v : order)
		sum = sum * 3 + helper(v);
	return sum + grid.limit(3, n);
}

std::vector<std::unique_ptr<Shape>> make(long n)
{
	std::vector<std::unique_ptr<Shape>> shapes;
	for (long i = 0; i < n; i++) {
		if (i % 3)
			shapes.push_back(std::make_unique<Box>(i, i + 1));
		else
			shapes.push_back(std::make_unique<Ring>(i));
	}
	return shapes;
}
