#!/usr/bin/env bash
# Measures everything and publishes it:
#
#	bench/run.sh [NAME]
#
# runs all benchmarks for which there are the tools, in several rounds, and writes
#
#	bench/results/NAME.txt        what they printed, below the facts about the machine
#	bench/results/NAME.benchstat  tables of benchstat
#	README.md, docs/measured/performance.md     their tables
#
# NAME is that of the system, such as linux-amd64, unless it is given. AFDO_CORPUS may name the folder with
# the real profiles, and ROUNDS the number of rounds. It takes some ten minutes and wants a quiet machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=${1:-$(go env GOOS)-$(go env GOARCH)}
rounds=${ROUNDS:-5}
results=bench/results/$name.txt
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

mkdir -p bench/results
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Built here and not by the first round.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
go -C bench test -c -o "$work/bench" .

# fact prints a line that benchmark tools take for a fact about all runs below it.
fact() { printf '%s: %s\n' "$1" "${2:-unknown}"; }

commit() {
	local id
	id=$(git describe --always --abbrev=12 2>/dev/null || true)
	GIT_OPTIONAL_LOCKS=0 git diff --quiet HEAD -- '*.go' 2>/dev/null || id=$id+changes
	printf '%s' "$id"
}

{
	fact date "$(date -u +%Y-%m-%d)"
	fact commit "$(commit)"
	fact cores "$(getconf _NPROCESSORS_ONLN 2>/dev/null || true)"
	fact memory "$(awk '/^MemTotal/ {printf "%.0f GB", $2/1e6}' /proc/meminfo 2>/dev/null || true)"
	fact kernel "$(uname -r)"
	fact go "$(go env GOVERSION | sed 's/^go//')"
	fact gcc "$(gcc -dumpfullversion 2>/dev/null || true)"
	fact llvm "$(llvm-profdata merge --version 2>/dev/null | awk '/LLVM version/ {print $NF}' || true)"
	fact load "$(cut -d' ' -f1 /proc/loadavg 2>/dev/null || true)"
	fact rounds "$rounds"
} >"$work/results"

# Rounds take turns, so that what disturbs the machine for a minute does not
# hit one benchmark alone. Short operations run for a time, long ones once or a few times a round.
run() { # pattern benchtime
	(cd bench && "$work/bench" -test.run '^$' -test.timeout 30m -test.bench "$1" -test.benchtime "$2") |
		tee -a "$work/results" >&2
}
for ((round = 1; round <= rounds; round++)); do
	printf 'round %d of %d\n' "$round" "$rounds" >&2
	run '^BenchmarkRead$/^corpus=bootstrap$' 60ms
	run '^BenchmarkRead$/^corpus=android$/./^source=(mmap|bytes)$' 60ms
	run '^BenchmarkRead$/^corpus=(medium|lib.*|keystore2)$/./^source=mmap$' 40ms
	run '^BenchmarkWalk$' 150ms
	run '^BenchmarkIndex$' 20ms
	run '^BenchmarkWhole$' 1x
	run '^BenchmarkProcess$/^op=' 8x
	run '^BenchmarkProcess$/^corpus=/^mode=' 8x
	run '^BenchmarkProcess$/^corpus=/^op=convert' 2x
	run '^Benchmark(Compile|LLVM)$' 2x
done
fact load-at-end "$(cut -d' ' -f1 /proc/loadavg 2>/dev/null || true)" >>"$work/results"
cp "$work/results" "$results"

{
	printf '# Reading, normal and compact. A ratio below one means that compact is the faster one.\n\n'
	go run "$benchstat" -filter '.unit:(cpu-sec/op OR B/s OR allocs/op) .name:(Read OR Walk)' -row '.name,/corpus,/source,/op' -col '/mode' "$results"
	printf '\n# Everything else.\n\n'
	go run "$benchstat" -filter '.unit:(sec/op OR cpu-sec/op OR B/s OR allocs/op OR peak-B) -.name:(Read OR Walk)' "$results"
} >"${results%.txt}.benchstat"

go -C bench build -o "$work/report" ./report && "$work/report" "$results"
printf 'results: %s and %s; tables: README.md, docs/measured/performance.md\n' "$results" "${results%.txt}.benchstat" >&2
