#!/usr/bin/env bash
# What do compilers react to in a profile of addresses without branches? Records programs by the processor's clock
# several times, and builds them with each profile as it is, and with mixtures of it and callgrind's exact profile:
#
#	bench/pays/clock.sh SOURCES [PROGRAM...]
#
# SOURCES and the programs are those of run.sh. It prints a line for each program, compiler and profile: the changes of
# the instructions on the training input, compared with a build without a profile, one for each recording, then those
# on another input. The mixtures are those of mix.go; "means" averages the samples of each block, and "exact" is
# callgrind's profile. docs/measured/inference.md has the result. COMPILERS names the suffixes of the compilers, MIXTURES the
# profiles, RECORDINGS how many recordings there are, TIME how long each is, and KEEP a folder for what is made. What is
# there is not made again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua brotli libpng mujs lz4" "$@"
read -ra compilers <<<"${COMPILERS-plain clang-22}"
read -ra mixtures <<<"${MIXTURES-clock heads zeros functions shape means scaled rounded exact}"

create() { "$work/afdo" create --binary "$1" --profile "$2" --allow-poor --to v2 -o "$3" >"$3.log" 2>&1 || { cat "$3.log" >&2; return 1; }; }

# sampled PROGRAM BINARY OUT writes samples of the training input.
sampled() {
	record "$1" "$2" "$3.perf" "${TIME-15s}" 4001 >"$3.log" 2>&1
	"$work/afdo" create --binary "$2" --profile "$3.perf" --to samples -o "$3" 2>>"$3.log"
}

# mixture BASE NUMBER KIND makes a profile of version 2 and prints its path.
mixture() {
	local to=$1.$2.$3.prof clock=$1.$2.clock.prof
	[ -s "$clock" ] || create "$1" "$1.$2" "$clock"
	case $3 in
	clock) ;;
	exact) cp "$1.exact" "$to" ;;
	means)
		"$work/pays" means "$1" "$1.train" "$1.$2" "$to.samples"
		create "$1" "$to.samples" "$to"
		;;
	*) "$work/pays" mix "$3" "$clock" "$1.exact" "$to" ;;
	esac
	echo "$to"
}

# instructions PROGRAM SUFFIX BASE NUMBER KIND prints the instructions on both inputs.
instructions() {
	local program=$1 suffix=$2 with=$3.$4.$5 prof
	if [ ! -s "$with.counted" ]; then
		prof=$(mixture "$3" "$4" "$5")
		"$work/afdo" convert "$prof" --to "$(format "$suffix")" -o "$prof.use" 2>/dev/null
		# Flags are split.
		# shellcheck disable=SC2046
		if build "$program" "$suffix" "$with" $(use "$suffix" "$prof.use") 2>"$with.log"; then
			echo "$(count "$program" "$with" train) $(count "$program" "$with" other)" >"$with.counted"
		else
			echo "failed failed" >"$with.counted"
		fi
		rm -rf "$with.o"
	fi
	cat "$with.counted"
}

printf '| program | compiler | profile | similarity | trained input | other input |\n|---|---|---|--:|--:|--:|\n'
for program in "${programs[@]}"; do
	for suffix in "${compilers[@]}"; do
		base=$work/$program$suffix
		[ -e "$base" ] || build "$program" "$suffix" "$base"
		if [ ! -s "$base.none" ]; then
			echo "$(count "$program" "$base" train "$base.train") $(count "$program" "$base" other)" >"$base.none"
			create "$base" "$base.train" "$base.exact"
		fi
		read -r train other <"$base.none"
		for n in $(seq "${RECORDINGS:-3}"); do
			[ -s "$base.$n" ] || sampled "$program" "$base" "$base.$n"
		done
		for kind in "${mixtures[@]}"; do
			numbers=$(seq "${RECORDINGS:-3}")
			case $kind in exact | scaled | rounded) numbers=1 ;; esac
			trained=() others=() alike=()
			for n in $numbers; do
				read -r a b < <(instructions "$program" "$suffix" "$base" "$n" "$kind")
				trained+=("$(percent "$train" "$a")") others+=("$(percent "$other" "$b")")
				alike+=("$("$work/afdo" diff --json -n 1 "$base.$n.$kind.prof" "$base.exact" 2>/dev/null | tr ',' '\n' | awk -F': ' '/"locations"/ {printf "%.2f", $2; exit}')")
			done
			printf '| %s | %s | %s | %s | %s | %s |\n' "$program" "$suffix" "$kind" "${alike[*]}" "${trained[*]}" "${others[*]}"
		done
	done
done
