#include <cstdlib>
#include <iostream>

#include "shapes.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? std::atol(argv[1]) : 100;
	auto shapes = make(n);
	auto scale = [n](long i) {
		if (i % 2)
			return i * n;
		return i;
	};
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += draw(shapes, scale(i));
	Grid<int> grid(10);
	sum += grid.each([&](int &cell) { return cell += sum % 10; });
	std::cout << sum << " " << clamp_to(3, 4, 5) << "\n";
}
