#!/usr/bin/env bash
# What is a head count worth where no sample shows the entry of a function? Builds programs with profiles of few
# branch samples, with head counts as observed and as estimated, and with callgrind's exact counts, and counts
# instructions with callgrind:
#
#	bench/pays/heads.sh SOURCES [PROGRAM...]
#
# SOURCES and the programs are those of run.sh. It prints a line for each profile: the instructions
# on the training input and on another one, compared with a build without a profile.
# docs/guide/create.md has the result. COMPILERS names the suffixes of the compilers, SAMPLES the
# approximate number of branch stacks, and KEEP a folder for what is made.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua zstd leveldb lz4 mujs" "$@"
read -ra compilers <<<"${COMPILERS-plain -16}"
wanted=${SAMPLES:-1000}

# profile BASE VERSION KIND makes a profile and prints its path.
profile() {
	local from=$1.samples options=()
	case $3 in
	observed) options=(--no-head-estimate) ;;
	exact) from=$1.train ;;
	esac
	"$work/afdo" create --binary "$1" --profile "$from" --to "$2" --allow-poor "${options[@]}" -o "$1.$3.prof" >"$1.$3.log" 2>&1 || { cat "$1.$3.log" >&2; return 1; }
	echo "$1.$3.prof"
}

printf '| program | compiler | profile | trained input | other input |\n|---|---|---|--:|--:|\n'
for program in "${programs[@]}"; do
	for suffix in "${compilers[@]}"; do
		base=$work/$program$suffix
		[ -e "$base" ] || build "$program" "$suffix" "$base"
		build "$program" "$suffix" "$base.none"
		train=$(count "$program" "$base.none" train)
		other=$(count "$program" "$base.none" other)
		all=$(count "$program" "$base" train "$base.train")
		"$work/pays" sample $((all / wanted / 6 + 1)) "$base" "$base.train" "$base.samples"
		for variant in observed estimated exact; do
			with=$base.with
			prof=$(profile "$base" "$(format "$suffix")" "$variant")
			build "$program" "$suffix" "$with" $(use "$suffix" "$prof")
			printf '| %s | GCC %s | %s | %s | %s |\n' "$program" "$($(compiler "$program" "$suffix" | cut -d' ' -f1) -dumpversion)" "$variant" \
				"$(percent "$train" "$(count "$program" "$with" train)")" "$(percent "$other" "$(count "$program" "$with" other)")"
		done
	done
done
