#!/bin/sh
# Compares a program with itself 200 times under a load of 0, 4 and 16 processes, as "afdo tune"
# compares two programs, and prints how many verdicts are wrong. COMPARISONS, LOADS and BUDGET
# change the numbers and the time until the first look.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v seed=1 -f ../../docs/guide/autofdo/text.awk > "$work/text"
printf '#include <stdio.h>\nint main(int c, char **v) { unsigned h = 1; FILE *f = fopen(v[1], "r"); for (int i = 0; i < 6; i++) { rewind(f); for (int b; (b = getc(f)) >= 0;) h = h * 31 + b; } return h == 0; }\n' > "$work/hash.c"
${CC:-cc} -O2 -o "$work/hash" "$work/hash.c"
go build -o "$work/verdicts" .
for load in ${LOADS:-0 4 16}; do
	"$work/verdicts" -comparisons "${COMPARISONS:-200}" -load "$load" -budget "${BUDGET:-10s}" "$work/hash" "$work/text"
done
