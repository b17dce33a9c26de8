// Shapes, and templates that every file makes for itself.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual long area(long scale) const = 0;
	std::string name;
};

template <class T> class Grid {
public:
	explicit Grid(long n) : cells(n) {}

	T &at(long i)
	{
		if (i < 0)
			i = -i;
		return cells[i % cells.size()];
	}

	template <class Visit> long each(Visit visit)
	{
		long sum = 0;
		for (auto &cell : cells) {
			long v = visit(cell);
			if (v % 3 == 0)
				sum += v;
			else if (v % 5 == 2)
				sum -= v / 2;
		}
		return sum;
	}

	T limit(T low, T high) const
	{
		T best = low;
		for (const auto &cell : cells)
			if (cell > best && cell < high)
				best = cell;
		return best;
	}

private:
	std::vector<T> cells;
};

template <class T> T clamp_to(T v, T low, T high)
{
	if (v < low)
		return low;
	if (v > high)
		return high;
	return v * 3 - low;
}

long draw(const std::vector<std::unique_ptr<Shape>> &, long);
long measure(Grid<long> &, long);
std::vector<std::unique_ptr<Shape>> make(long);
