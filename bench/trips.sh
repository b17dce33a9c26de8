#!/usr/bin/env bash
# Counts the source files that one operation passes through: how many files a stranger meets who
# follows it in a debugger.
#
#	bench/trips.sh [FOLDER]
#
# It builds the command so that it records which statements run, runs each verb once, and counts the
# files of this project with a statement that ran. With FOLDER it writes there, for each operation, a
# list of these files. It needs gcc and valgrind.
set -euo pipefail
case ${1-} in -*) echo "usage: $0 [FOLDER]; the script's first lines explain it" >&2; exit 2 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
lists=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
module=$(go list -m)

go build -cover -coverpkg=./... -o "$work/afdo" ./cmd/afdo

# A program with its recordings, and one compile of it.
cat >"$work/sort.c" <<'C'
static int numbers[5000];
static __attribute__((noinline)) int smallest(int from) {
	int at = from;
	for (int i = from; i < 5000; i++)
		if (numbers[i] < numbers[at])
			at = i;
	return at;
}
int main(void) {
	unsigned v = 1;
	for (int i = 0; i < 5000; i++)
		numbers[i] = (int)((v = v * 1103515245 + 12345) >> 8);
	for (int i = 0; i < 5000; i++) {
		int at = smallest(i), n = numbers[i];
		numbers[i] = numbers[at], numbers[at] = n;
	}
	return numbers[0] > numbers[4999];
}
C
cd "$work"
gcc -O2 -g -o sort sort.c
valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file=sort.callgrind ./sort
mkdir prepare
export GOCOVERDIR=$work/prepare XDG_CACHE_HOME=$work/cache # an empty cache, and the same on every machine
./afdo create --binary sort --profile sort.callgrind -o sort.afdo >/dev/null 2>&1
./afdo convert --to v4c --index -o indexed.afdo sort.afdo >/dev/null
./afdo convert --to v4c -o compact.afdo sort.afdo >/dev/null
./afdo convert --to v3 -o v3.afdo sort.afdo >/dev/null 2>&1
echo 'int first(void) { return 1; }' >first.c
./afdo exec --fallback --profile sort.afdo -- gcc -O2 -g -c first.c 2>/dev/null # keeps an indexed copy of the profile
recorded=
./afdo record --event cpu-clock -o sort.perf ./sort >/dev/null 2>&1 && recorded=1

trip() { # name arguments...
	local name=$1
	shift
	mkdir "counts-$name"
	GOCOVERDIR=$work/counts-$name ./afdo "$@" >"$name.out" 2>&1 || {
		cat "$name.out" >&2
		echo "trips: afdo $* failed" >&2
		exit 1
	}
	go tool covdata textfmt -i "counts-$name" -o "$name.txt"
	awk -F: -v module="$module/" '$NF !~ / 0$/ && index($1, module) == 1 { print substr($1, length(module) + 1) }' "$name.txt" | sort -u >"$name.files"
	printf '%-22s %d\n' "$name" "$(wc -l <"$name.files")"
	[ -z "$lists" ] || { mkdir -p "$lists" && cp "$name.files" "$lists/$name"; }
}

trip version version
trip lookup-v4c lookup indexed.afdo --unit sort.c
trip lookup-v4c-no-index lookup compact.afdo --unit sort.c
trip lookup-v3 lookup v3.afdo --symbol smallest
[ -z "$recorded" ] || trip create-perf.data create --binary sort --profile sort.perf -o out.afdo
trip create-callgrind create --binary sort --profile sort.callgrind -o out.afdo
# With --fallback the command waits for the compiler. Without, it becomes the compiler, and writes no counts.
trip exec exec --fallback --profile sort.afdo -- gcc -O2 -g -c -o sort.o sort.c
trip merge merge -o merged.afdo sort.afdo v3.afdo
