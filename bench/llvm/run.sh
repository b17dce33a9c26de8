#!/usr/bin/env bash
# What do large profiles cost afdo and the llvm-profdata of several versions of LLVM?
#
#	bench/llvm/run.sh [VERSIONS...]
#
# VERSIONS are of LLVM, 14 16 19 22 if there are none; what is not installed is left out. Each version gets files of its
# own making: an ExtBinary file of PROFILE, which is a profile of any format, or of one of BYTES (10,000,000) in version
# 3 that is made up; an indexed file of FUNCTIONS functions of instrumentation (60,000); and FILES raw files (100) of a
# program with 5,000 functions that its clang has built. Both tools merge two of the former and all of the latter into a file that the version can read.
# ROUNDS (3) take turns. A line for each: seconds of processor time and MB of memory, the medians, and how many times
# the tool takes what afdo does. docs/reference/llvm-instr.md has a result.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
profile=$(realpath "${PROFILE:-/dev/null}")
versions=("$@")
[ $# -gt 0 ] || versions=(14 16 19 22)
rounds=${ROUNDS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

go build -C "$root" -o "$work/afdo" ./cmd/afdo
go build -C "$root/bench" -o "$work/" ./fleet ./spawn
[ -n "${PROFILE:-}" ] || {
	mkdir made
	./fleet made 1 "${BYTES:-10000000}" plain
	profile=$(echo made/*)
}
./afdo convert "$profile" --to extbinary -o sample 2>/dev/null

# text prints a profile of the front end in LLVM's text.
text() {
	awk -v n="${FUNCTIONS:-60000}" 'BEGIN {
		for (i = 0; i < n; i++) {
			count = 1 + i * 7919 % 40
			printf "_ZN9benchmark%dfunction%dEv\n%d\n%d\n", i % 9, i, 1000003 * (i + 1), count
			for (j = 0; j < count; j++) print (i * 31 + j * 17) % 99991
			print ""
		}
	}'
}
text >text

# source_text prints a program with many functions, of which half run.
source_text() {
	awk 'BEGIN {
		for (i = 0; i < 5000; i++) printf "__attribute__((noinline)) int f%d(int x) { return x > %d ? x * %d : x + 1; }\n", i, i % 7, i
		print "int main(void) { int s = 0;"
		for (i = 0; i < 5000; i += 2) printf "s += f%d(s & 7);\n", i
		print "return s == 42; }"
	}'
}
source_text >program.c

# indexed prints the version of indexed files that a version of LLVM reads.
indexed() {
	case $1 in
	14) echo 7 ;;
	16) echo 9 ;;
	19) echo 12 ;;
	*) echo 13 ;;
	esac
}

# measure prints what a command costs, as "seconds MB".
measure() {
	./spawn "$@" 2>/dev/null | awk -F'[:,}]' '{ print $4 / 1e9, $6 / 1e6 }'
}

# median prints the medians of two columns.
median() {
	local column
	for column in 1 2; do
		sort -n -k "$column,$column" "$1" | awk -v c="$column" '{ v[NR] = $c } END { printf "%s ", v[int((NR + 1) / 2)] }'
	done
}

# compare runs both tools in turn: name, the arguments of afdo, "--", those of llvm-profdata.
compare() {
	local name=$1 ours=() round
	shift
	while [ "$1" != -- ]; do
		ours+=("$1")
		shift
	done
	shift
	rm -f ours theirs
	for ((round = 0; round < rounds; round++)); do
		measure ./afdo "${ours[@]}" >>ours
		measure "llvm-profdata-$version" "$@" >>theirs
	done
	echo "$(median ours) $(median theirs)" | awk -v name="$name" -v version="$version" \
		'{ printf "| %s | %s | %.2f s | %.0f MB | %.2f s | %.0f MB | %.1f | %.1f |\n", version, name, $1, $2, $3, $4, $3 / $1, $4 / $2 }'
}

echo '| LLVM | merged | `afdo`: processor | memory | `llvm-profdata`: processor | memory | times the time | times the memory |'
echo '|--:|---|--:|--:|--:|--:|--:|--:|'
for version in "${versions[@]}"; do
	command -v "llvm-profdata-$version" >/dev/null && command -v "clang-$version" >/dev/null || continue
	"llvm-profdata-$version" merge --sample --extbinary sample -o "sample-$version"
	compare "two sample profiles of $(du -k "sample-$version" | awk '{ printf "%.0f", $1 / 1000 }') MB" \
		merge --to extbinary -o out "sample-$version" "sample-$version" -- merge --sample --extbinary -o out "sample-$version" "sample-$version"
	"llvm-profdata-$version" merge text -o "indexed-$version"
	compare "two indexed files of $(du -k "indexed-$version" | awk '{ printf "%.0f", $1 / 1000 }') MB" \
		merge --to profdata --indexed-version "$(indexed "$version")" -o out "indexed-$version" "indexed-$version" -- merge -o out "indexed-$version" "indexed-$version"
	"clang-$version" -O0 -fprofile-instr-generate program.c -o program
	rm -rf raw && mkdir raw
	LLVM_PROFILE_FILE=raw/0.profraw ./program || true
	for ((i = 1; i < ${FILES:-100}; i++)); do cp raw/0.profraw "raw/$i.profraw"; done
	compare "$(find raw -type f | wc -l) raw files" \
		merge --to profdata --indexed-version "$(indexed "$version")" -o out raw -- merge -o out raw
done
