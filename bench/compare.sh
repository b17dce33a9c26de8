#!/usr/bin/env bash
# Compares the read path of two revisions:
#
#	bench/compare.sh [BASE [HEAD]]
#
# runs the benchmarks of both in turn, prints what benchstat makes of them, and fails if one is slower by more
# than a tenth and that is no chance. BASE is main and HEAD the work tree unless they are given; ROUNDS is the
# number of rounds, and PATTERN says which benchmarks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=${1:-main}
head=${2:-}
rounds=${ROUNDS:-8}
pattern=${PATTERN:-'(Read|Walk)/corpus=(medium|android)'}
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

work=$(mktemp -d)
top=$PWD
trap 'rm -rf "$work"; git -C "$top" worktree prune' EXIT
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

# build makes the benchmarks of a revision, or of the work tree if it is empty.
build() { # revision name
	local dir=$PWD
	if [ -n "$1" ]; then
		dir=$work/tree-$2
		git worktree add --quiet --detach "$dir" "$1"
	fi
	go -C "$dir/bench" test -c -o "$work/$2.test" .
	printf '%s' "$dir/bench" >"$work/$2.dir"
}

build "$base" base
build "$head" head
for ((round = 1; round <= rounds; round++)); do
	printf 'round %d of %d\n' "$round" "$rounds" >&2
	for name in base head; do
		(cd "$(cat "$work/$name.dir")" && "$work/$name.test" -test.run '^$' -test.bench "$pattern" -test.benchtime 0.3s) >>"$work/$name"
	done
done

cd "$work"
go run "$benchstat" base head

# A row of the first table: name, base, spread, head, spread, change, p and n. "~" is no change.
go run "$benchstat" -format csv base head 2>/dev/null | awk -F, '
	/sec\/op/ { time = 1; next }
	/\/op|\/s/ { time = 0; next }
	time && $1 != "geomean" && $6 ~ /^\+/ { change = substr($6, 2) + 0; if (change > 10) { print "slower by " change "%: " $1; slower = 1 } }
	END { exit slower }
' >&2
