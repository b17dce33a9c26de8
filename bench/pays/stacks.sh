#!/usr/bin/env bash
# What are call stacks worth? Records programs by the processor's clock with call stacks, as pprof, Parca and
# OpenTelemetry have them, builds with profiles of the same samples without and with their stacks, with what branch
# stacks would have told, and with callgrind's counts, and counts instructions with callgrind:
#
#	bench/pays/stacks.sh SOURCES [PROGRAM...]
#
# SOURCES and the programs are those of run.sh. A line a profile: what the program and another input then take,
# compared with a build without a profile. docs/guide/create.md has the result. COMPILERS names the suffixes of the
# compilers, or clang; TIME is how long each program is recorded, and KEEP a folder for what is made.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua zstd leveldb" "$@"
read -ra compilers <<<"${COMPILERS-plain -16 clang-22}"
read -ra variants <<<"${VARIANTS-addresses stacks lbr exact}"
period=${PERIOD:-2003}

# stacked PROGRAM BINARY writes samples of the training input with their call stacks.
stacked() {
	local command
	mapfile -t command < <(repeated "$1" "$2")
	perf record -q -e cpu-clock -F 4999 -g -o "$2.perf" -- timeout "${TIME-20}" "${command[@]}" || [ -s "$2.perf" ]
}

# profile PROGRAM SUFFIX KIND makes a profile and prints its path.
profile() {
	local base=$work/$1$2 to version
	local from=$base.train
	to=$base.$3.prof
	version=$(format "$2")
	case $3 in
	addresses)
		"$work/afdo" create --binary "$base" --profile "$base.perf" --to samples -o "$to.samples"
		from=$to.samples
		;;
	lbr)
		"$work/pays" sample "$period" "$base" "$from" "$to.samples"
		from=$to.samples
		;;
	stacks*) from=$base.perf ;;
	esac
	"$work/afdo" create --binary "$base" --profile "$from" --to $version -o "$to"
	echo "$to"
}

printf '| program | compiler | profile | trained input | other input |\n|---|---|---|--:|--:|\n'
for program in "${programs[@]}"; do
	for suffix in "${compilers[@]}"; do
		base=$work/$program$suffix
		[ -e "$base" ] || build "$program" "$suffix" "$base" -fno-omit-frame-pointer
		[ -e "$base.perf" ] || stacked "$program" "$base"
		count "$program" "$base" train "$base.train" >/dev/null
		build "$program" "$suffix" "$base.none"
		train=$(count "$program" "$base.none" train)
		other=$(count "$program" "$base.none" other)
		for variant in "${variants[@]}"; do
			with=$base.with
			build "$program" "$suffix" "$with" $(use "$suffix" "$(profile "$program" "$suffix" "$variant" 2>"$base.$variant.log" || cat "$base.$variant.log" >&2)")
			printf '| %s | %s | %s | %s | %s |\n' "$program" "${suffix#plain}" "$variant" "$(percent "$train" "$(count "$program" "$with" train)")" \
				"$(percent "$other" "$(count "$program" "$with" other)")"
		done
	done
done
