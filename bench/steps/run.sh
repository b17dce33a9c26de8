#!/usr/bin/env bash
# How good are recordings by steps? Builds programs, records them by steps and by cpu-clock, and compares the profiles
# with the exact profile, which callgrind counts. Then it compiles the programs with each profile, and counts their
# instructions with callgrind:
#
#	bench/steps/run.sh SOURCES [PROGRAM...]
#
# SOURCES and PROGRAM are those of bench/pays/run.sh: lua, leveldb and calc by default. A recording runs the training
# input again and again, in a new process each time, for SECONDS_EACH seconds (20). COMPILERS names the suffixes of the compilers,
# by default those of gcc and, if it is there, gcc-16. OVERHEADS are the values of --overhead (1% 2% 5% 10%), and
# COMPILED the profiles with which the programs are compiled (exact cpu-clock 5%).
#
# The tables go to standard output. Similarity depends on the machine: a stop takes 10 us on some, and 100 us on a busy
# virtual one, so the table shows the number of samples as well.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../pays" && pwd)
root=$here/../..
sources=$(cd "$1" && pwd)
shift
programs=("$@")
[ $# -gt 0 ] || programs=(lua leveldb calc)
read -ra compilers <<<"${COMPILERS-plain $(command -v gcc-16 >/dev/null && echo -16)}"
read -ra overheads <<<"${OVERHEADS-1% 2% 5% 10%}"
read -ra compiled <<<"${COMPILED-exact cpu-clock 5%}"
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT

go build -C "$root" -o "$work/afdo" ./cmd/afdo

. "$here/programs.sh"
prepare

percent() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%+.1f %%", 100 * (b - a) / a}'; }

# record BASE KIND records the training input, by cpu-clock or by steps of an overhead.
record() {
	local input=train how=(--event cpu-clock)
	[ "$program" != lua ] || input=$here/programs/train.lua
	[ "$2" = cpu-clock ] || how=(--event steps --overhead "$2")
	"$work/afdo" record "${how[@]}" -o "$1.$2.data" -- \
		bash -c 'while [ $SECONDS -lt "$0" ]; do "$@" >/dev/null; done' "${SECONDS_EACH:-20}" "$1" "$input" 2>"$1.$2.log" ||
		{ cat "$1.$2.log" >&2; return 1; }
}

# profile BASE SUFFIX KIND makes the profile $base.$kind.prof.
profile() {
	local version=v2 from=$1.$3.data
	[ "$2" != -16 ] || version=v3
	[ "$3" = exact ] && from=$1.train || record "$1" "$3"
	"$work/afdo" create --allow-poor --binary "$1" --profile "$from" --to $version -o "$1.$3.prof" 2>"$1.$3.create"
}

similarity() { "$work/afdo" diff "$1" "$2" | awk '/Similarity/ {printf "%.3f", $2}'; }

printf '| program | compiler | profile | similarity | samples | trained input | other input |\n|---|---|---|--:|--:|--:|--:|\n'
for program in "${programs[@]}"; do
	for suffix in "${compilers[@]}"; do
		base=$work/$program$suffix
		build "$program" "$suffix" "$base"
		train=$(count "$program" "$base" train "$base.train")
		other=$(count "$program" "$base" other)
		for kind in exact cpu-clock "${overheads[@]}"; do
			profile "$base" "$suffix" "$kind"
			samples='' gains='| |'
			[ "$kind" = exact ] || samples=$(awk '/ samples? of / {print $2}' "$base.$kind.log")
			if [[ " ${compiled[*]} " == *" $kind "* ]]; then
				with=$base.with
				build "$program" "$suffix" "$with" "-fauto-profile=$base.$kind.prof"
				gains="$(percent "$train" "$(count "$program" "$with" train)") | $(percent "$other" "$(count "$program" "$with" other)") |"
			fi
			printf '| %s | %s | %s | %s | %s | %s\n' "$program" "$(gcc${suffix#plain} -dumpfullversion)" "$kind" \
				"$(similarity "$base.exact.prof" "$base.$kind.prof" || true)" "$samples" "$gains"
		done
	done
done
