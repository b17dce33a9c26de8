#include "shapes.h"

namespace {

// Another file has one of this name, too.
long helper(long v)
{
	long r = 0;
	for (long i = 1; i < (v & 63); i++) {
		if (v % i == 0)
			r += i;
		else if (r > v)
			r /= 2;
	}
	return r;
}

struct Pen {
	long width;
	long stroke(long n) const
	{
		long r = n;
		while (r > width) {
			r -= 1 + helper(r) % 7;
			if (r % 2)
				r -= width;
		}
		return r;
	}
	long operator()(long n) const { return n % 2 ? stroke(n) : helper(n); }
};

} // namespace

static long split(const std::string &name)
{
	long r = 0;
	for (char c : name) {
		if (c == ' ')
			r *= 7;
		else if (c >= 'a')
			r += c;
	}
	return r;
}

long draw(const std::vector<std::unique_ptr<Shape>> &shapes, long scale)
{
	Pen pen{3};
	long sum = 0;
	for (const auto &shape : shapes) {
		long a = shape->area(scale);
		if (a > 100)
			sum += pen(a);
		else
			sum += clamp_to(a, 2L, 50L) + split(shape->name);
	}
	Grid<long> grid(100);
	sum += grid.each([&](long &cell) {
		cell += helper(sum);
		if (cell > scale)
			cell -= scale;
		return cell;
	});
	return sum + measure(grid, sum);
}
