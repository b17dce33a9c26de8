// Reads numbers, and a third of the texts are none, which ends in an exception. The argument is train
// or other.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>
static int parse(const std::string &s) {
	int n = 0;
	for (char c : s) {
		if (c < '0' || c > '9')
			throw std::invalid_argument("not a digit: " + s);
		n = n * 10 + c - '0';
	}
	return n;
}
static int classify(const std::string &s, int depth) {
	try {
		if (depth > 0)
			return classify(s, depth - 1);
		return parse(s);
	} catch (const std::invalid_argument &e) {
		int h = 7;
		for (const char *p = e.what(); *p; p++)
			h = h * 31 + *p;
		if (h % 3 == 0 && depth < 2)
			throw;
		return h & 255;
	}
}
int main(int argc, char **argv) {
	bool train = argc > 1 && !strcmp(argv[1], "train");
	int rounds = train ? 300 : 200;
	std::vector<std::string> words;
	for (int i = 0; i < 100; i++)
		words.push_back(i % 3 ? std::to_string(i * (train ? 7919 : 104729)) : "w" + std::to_string(i * (train ? 31 : 37)));
	long sum = 0;
	for (int r = 0; r < rounds; r++)
		for (auto &w : words) {
			try {
				sum += classify(w, r % 4);
			} catch (const std::exception &e) {
				sum--;
			}
		}
	printf("%ld\n", sum);
}
