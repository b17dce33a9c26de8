#!/usr/bin/env bash
# What does GCC find? Compiles programs with profiles of themselves, in the sources that were profiled, and prints how
# much of the counts GCC has found a statement for, by what afdo explain says:
#
#	bench/pays/found.sh SOURCES [PROGRAM...]
#
# SOURCES is as bench/pays/run.sh has it. COMPILER is the suffix of the compiler, by default -16, plain for that of gcc, OPT the level that
# the program is built with, MOST how many of the functions to show that lose most, KEEP a folder for what is
# built, and what is there is not built again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua zstd re2 fmt leveldb calc" "$@"
suffix=${COMPILER--16}

for program in "${programs[@]}"; do
	base=$work/$program$suffix
	[ -e "$base" ] || build "$program" "$suffix" "$base"
	[ -s "$base.train" ] || count "$program" "$base" train "$base.train" >/dev/null
	"$work/afdo" create --binary "$base" --profile "$base.train" --to v4c -o "$base.found.afdo"
	echo "$program"
	# Words of the compiler and of flags are split.
	# shellcheck disable=SC2046
	"$work/afdo" explain "$base.found.afdo" -n "${MOST-10}" -j "${JOBS:-2}" -- \
		$(compiler "$program" "$suffix") "${OPT--O2}" -w $(flags "$program") -c $(files "$program")
done
