#!/usr/bin/env bash
# How many samples does a profile take? Records programs by the processor's clock, without branch stacks, draws some
# of the samples by chance, builds with the profiles of these, and counts the instructions of another input with
# callgrind:
#
#	bench/pays/samples.sh SOURCES [PROGRAM...]
#
# SOURCES and the programs are those of run.sh. NUMBERS are how many samples are drawn, SEEDS how often each. A line
# a profile: samples, what "afdo create" tells of their quality, and what the program and another input then take,
# compared with a build without a profile. docs/guide/create.md has the result.
# TIME is how long each program is recorded, and KEEP a folder for what is made.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua zstd calc" "$@"
read -ra numbers <<<"${NUMBERS-30 100 300 1000 3000 10000 30000}"
read -ra seeds <<<"${SEEDS-1 2}"

# sampled PROGRAM BINARY writes samples of the training input.
sampled() {
	record "$1" "$2" "$2.perf" "${TIME-60s}" 20011
	"$work/afdo" create --binary "$2" --profile "$2.perf" --to samples -o "$2.all"
}

field() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p"; }

printf '| program | samples | density | left out | uncertain | verdict | trained input | other input |\n|---|--:|--:|--:|--:|---|--:|--:|\n'
for program in "${programs[@]}"; do
	base=$work/$program.plain
	[ -e "$base" ] || build "$program" plain "$base"
	[ -e "$base.all" ] || sampled "$program" "$base"
	train=$(count "$program" "$base" train)
	other=$(count "$program" "$base" other)
	for n in "${numbers[@]}"; do
		for seed in "${seeds[@]}"; do
			"$work/pays" draw "$n" "$seed" "$base.all" "$base.drawn"
			facts=$("$work/afdo" create --binary "$base" --profile "$base.drawn" ${CREATE---allow-poor} --to v2 -o "$base.prof" --json 2>"$base.log") || { tail -1 "$base.log" >&2; continue; }
			build "$program" plain "$base.with" $(use plain "$base.prof")
			printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$program" "$n" "$(field density <<<"$facts")" \
				"$(field left_out_share <<<"$facts")" "$(field uncertain_share <<<"$facts")" "$(field verdict <<<"$facts")" \
				"$(percent "$train" "$(count "$program" "$base.with" train)")" "$(percent "$other" "$(count "$program" "$base.with" other)")"
		done
	done
done
