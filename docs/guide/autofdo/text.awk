# Writes a text of made-up words: awk -v seed=1 -f text.awk
BEGIN {
	srand(seed)
	for (i = 0; i < 12000; i++) {
		w = int(900 * rand() * rand())
		printf "%s%s%d%s", i % 5 ? "" : "The ", substr("Profiles-of-branches and_the rest", 1 + w % 12, 4 + w % 9), w, i % 11 ? " " : ".\n"
	}
}
