#!/usr/bin/env bash
# Measures what the launcher costs: processor time in ms in front of a compiler that does nothing.
#
#	bench/launcher.sh [ROUNDS] [SOURCE OPTIONS...]
#
# The source is compile/slice/testdata/c/walk.c unless another one is given, with options such as -I.
# The compiler that does nothing passes -E and questions on to gcc or, for C++, to g++. Rows:
#
#	warm     the same compile again
#	cold     the launcher has seen neither the source nor the slice
#	ccache   a hit of ccache, with the real compiler
#
# Each row has the median and the minimum of ROUNDS runs, 100 by default, of the command without the
# launcher, with "afdo-exec" and with "afdo exec" before it. Rounds alternate between the three. It
# needs gcc, valgrind and, for the last row, ccache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-100}
shift $(($# > 0 ? 1 : 0))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/" ./cmd/afdo ./cmd/afdo-exec
(cd bench && go build -o "$work/spawn" ./spawn)

cp compile/slice/testdata/c/* "$work"
[ $# -gt 0 ] || set -- "$work/walk.c"
driver=gcc
case $1 in *.c) ;; *) driver=g++ ;; esac
cd "$work"
gcc -O2 -g -o trained insert.c walk.c main.c
valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file=callgrind.out ./trained >/dev/null
./afdo create --binary trained --profile callgrind.out -o plain.afdo >/dev/null 2>&1
./afdo convert --to v4c --index -o prof.afdo plain.afdo >/dev/null

mkdir fake
cat >fake.c <<C
#include <string.h>
#include <unistd.h>
int main(int count, char **args)
{
	int compiles = 0, asks = 0;
	for (int i = 1; i < count; i++)
		compiles |= !strcmp(args[i], "-c"), asks |= !strcmp(args[i], "-E");
	if (compiles && !asks)
		_exit(0);
	args[0] = "$(command -v $driver)";
	execv(args[0], args);
	_exit(127);
}
C
gcc -O2 -static -o "fake/$driver" fake.c
export AFDO_CACHE_DIR=$work/cache CCACHE_DIR=$work/ccache

# processor COMMAND... prints the processor time of a run in microseconds.
processor() { ./spawn "$@" 2>/dev/null | sed 's/.*"Processor":\([0-9]*\)[0-9][0-9][0-9],.*/\1/'; }

forget() { rm -rf cache/inputs cache/stamps cache/taken cache/plans ./*.o.afdo; }

row() { # name, what happens before each run, command
	local name=$1 before=$2
	shift 2
	local first=("./afdo-exec" --profile prof.afdo --) second=(./afdo exec --profile prof.afdo --)
	for _ in 1 2 3; do
		"$@" -o 0.o && "${first[@]}" "$@" -o 1.o && "${second[@]}" "$@" -o 2.o
	done 2>/dev/null
	rm -f times.*
	for _ in $(seq "$rounds"); do
		$before && processor "$@" -o 0.o >>times.0
		$before && processor "${first[@]}" "$@" -o 1.o >>times.1
		$before && processor "${second[@]}" "$@" -o 2.o >>times.2
	done
	for i in 0 1 2; do
		sort -n times.$i | awk -v name="$name" -v i=$i '{ t[NR] = $1 / 1000 } END {
			split("without afdo-exec afdo_exec", who); sub("_", " ", who[i + 1])
			printf "%-8s%-12s median %7.2f  minimum %7.2f ms\n", name, who[i + 1], t[int((NR + 1) / 2)], t[1] }'
	done
}

source=$1
shift
row warm true "$work/fake/$driver" -O2 -g -c "$source" "$@"
row cold forget "$work/fake/$driver" -O2 -g -c "$source" "$@"
if command -v ccache >/dev/null; then
	row ccache true ccache "$(command -v $driver)" -O2 -g -c "$source" "$@"
fi
