#!/usr/bin/env bash
# How long do afdo create, llvm-profgen 22 and create_gcov take to make a profile of a recording? Builds programs with
# clang 22 and DWARF 4, which create_gcov can read, and records them by steps:
#
#	bench/pays/creators.sh SOURCES [PROGRAM...]
#
# SOURCES and the programs are those of run.sh. It prints the shortest of five runs for each tool that is installed: wall
# time, processor time and peak memory. BINARY is another program, and SCRIPT its recording as text of "perf script",
# which create_gcov cannot read. KEEP is a folder for what is made.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "leveldb brotli yamlcpp" "$@"

# best NAME TOOL COMMAND... prints a line of the table.
best() {
	command -v "$3" >/dev/null || return 0
	local name=$1 tool=$2 times=$work/times
	shift 2
	for _ in 1 2 3 4 5; do
		command time -f '%e %U %S %M' -o "$times.one" "$@" >"$times.said" 2>&1 || { cat "$times.said" >&2; return 1; }
		cat "$times.one"
	done | sort -n | awk -v name="$name" -v tool="$tool" 'NR == 1 {printf "| %s | %s | %.2f s | %.2f s | %.0f MB |\n", name, tool, $1, $2 + $3, $4 * 1024 / 1e6}'
}

printf '| program | tool | time | processor | memory |\n|---|---|--:|--:|--:|\n'
for program in "${programs[@]}"; do
	base=$work/$program.creators
	[ -e "$base" ] || build "$program" clang-22 "$base" -gdwarf-4
	mapfile -t command < <(repeated "$program" "$base")
	[ -e "$base.data" ] || "$work/afdo" record --event steps --overhead 10% --duration "${TIME-15s}" -o "$base.data" -- "${command[@]}" 2>"$base.log"
	best "$program" "afdo, ExtBinary" "$work/afdo" create --allow-poor --binary "$base" --profile "$base.data" --to extbinary -o "$base.ours"
	best "$program" llvm-profgen llvm-profgen-22 --binary="$base" --perfdata="$base.data" -o "$base.theirs"
	best "$program" "afdo, GCOV version 2" "$work/afdo" create --allow-poor --binary "$base" --profile "$base.data" --to v2 -o "$base.gcov"
	best "$program" create_gcov create_gcov --binary="$base" --profile="$base.data" --gcov="$base.google" --gcov_version=2
done
if [ -n "${BINARY-}" ]; then
	name=$(basename "$BINARY")
	best "$name" "afdo, ExtBinary" "$work/afdo" create --no-probes --allow-poor --binary "$BINARY" --profile "$SCRIPT" --to extbinary -o "$work/script.ours"
	best "$name" llvm-profgen llvm-profgen-22 --binary="$BINARY" --perfscript="$SCRIPT" -o "$work/script.theirs"
fi
