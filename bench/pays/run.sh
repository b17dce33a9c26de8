#!/usr/bin/env bash
# Does it pay? Builds programs without and with profiles that afdo create makes of callgrind's counts, and counts
# their instructions with callgrind and the branches that are predicted wrongly with cachegrind:
#
#	bench/pays/run.sh SOURCES [PROGRAM...]
#
# SOURCES is a folder with the sources of Lua 5.4, zstd, re2, fmt and LevelDB, as Debian's source packages unpack
# (lua5.4-*, libzstd-*, re2-*, fmtlib-*, leveldb-*). The table goes to standard output, a line a program and
# compiler. COMPILERS names the suffixes of the compilers, by default those of gcc and, if it is there, gcc-16;
# KEEP a folder for what is built, where a program without a profile is not built again. VARIANTS are the profiles,
# none for none, each with a colon and flags of the compiler behind it if need be, with a comma in place of a space:
#
#	VARIANTS="exact exact:-fno-tracer none:-O3"
#
# ROUNDS is how often each program runs for the columns of processor times, which are empty otherwise; they need an idle
# machine. It takes minutes a program.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua zstd re2 fmt leveldb calc" "$@"
read -ra compilers <<<"${COMPILERS-plain $(has gcc-16 -16)}"
early=--param=max-early-inliner-iterations=10 # 1 unless told otherwise
rolled=$early,-fno-unroll-loops
branches=-fno-tracer,--param=max-rtl-if-conversion-predictable-cost=40
read -ra variants <<<"${VARIANTS-exact exact:$early exact:$rolled exact:$rolled,$branches sum lbr addresses}"
period=${PERIOD:-2003}
rounds=${ROUNDS-0}

# raced PROGRAM BEFORE AFTER INPUT prints by how much the processor times differ, in percent.
raced() { [ "$rounds" = 0 ] || { input "$1" "$4" >"$work/commands" && "$work/pays" race "$rounds" "$work/commands" "$2" "$3"; }; }

code() { size "$1" | awk 'NR == 2 {print $1}'; }

# profile PROGRAM SUFFIX KIND makes a profile and prints the flag that has GCC use it.
profile() {
	local base=$work/$1$2 to version from=$work/$1$2.train
	to=$base.$3.prof
	[ "$3" != none ] || return 0
	version=$(format "$2")
	case $3 in
	exact) "$work/afdo" create --binary "$base" --profile "$from" --to $version -o "$to" ;;
	sum) "$work/afdo" create --binary "$base" --profile "$from" --combine sum --to $version -o "$to" ;;
	lbr | addresses)
		"$work/pays" sample "$period" "$base" "$from" "$to.samples"
		"$work/afdo" create --binary "$base" --profile "$to.samples" $([ "$3" = lbr ] || echo --no-branches) --to $version -o "$to"
		;;
	*) echo "$3 is no kind of profile" >&2 && return 1 ;;
	esac 2>"$to.log" || { cat "$to.log" >&2; return 1; }
	echo "-fauto-profile=$to"
}

printf '| program | compiler | profile | trained input | other input | mispredicted: trained | other | code | time: trained | other |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n'
for program in "${programs[@]}"; do
	for suffix in "${compilers[@]}"; do
		base=$work/$program$suffix
		[ -e "$base" ] || build "$program" "$suffix" "$base"
		train=$(count "$program" "$base" train "$base.train")
		other=$(count "$program" "$base" other)
		wrong=$(mispredicted "$program" "$base" train)
		wrong_other=$(mispredicted "$program" "$base" other)
		compiler=$(gcc${suffix#plain} -dumpfullversion)
		printf '| %s | %s | none | %.1f M | %.1f M | %.2f M | %.2f M | %d | | |\n' "$program" "$compiler" "$((train / 100000))e-1" \
			"$((other / 100000))e-1" "${wrong}e-6" "${wrong_other}e-6" "$(code "$base")"
		for variant in "${variants[@]}"; do
			flag=$(profile "$program" "$suffix" "${variant%%:*}")
			with=$base.with
			IFS=, read -ra flags <<<"${variant#"${variant%%:*}"}"
			build "$program" "$suffix" "$with" $flag "${flags[@]#:}"
			printf '| | | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$variant" "$(percent "$train" "$(count "$program" "$with" train)")" \
				"$(percent "$other" "$(count "$program" "$with" other)")" "$(percent "$wrong" "$(mispredicted "$program" "$with" train)")" \
				"$(percent "$wrong_other" "$(mispredicted "$program" "$with" other)")" "$(percent "$(code "$base")" "$(code "$with")")" \
				"$(raced "$program" "$base" "$with" train)" "$(raced "$program" "$base" "$with" other)"
		done
	done
done
