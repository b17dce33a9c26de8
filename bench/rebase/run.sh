#!/usr/bin/env bash
# What are profiles of older sources worth? Builds programs of two versions of their sources, profiles both, moves the
# profile of the older one to the newer sources, and compares it with the newer one's:
#
#	bench/rebase/run.sh OLD NEW [PROGRAM...]
#
# OLD and NEW are folders with the sources of two versions, each as bench/pays/run.sh has it; besides its programs there
# are those that version.sh says, such as yamlcpp of yaml-cpp-*. The table goes to standard output: the overlap of the profile with the newer one's by locations, as afdo diff has it, stale, rebased by what it remembers of
# its sources, by both texts, and by these with the newer program's debug info; the overlap of the last one by functions
# alone, wherever the counts are in them, which no overlap of locations can exceed; what remembering takes, as a share of
# the compact file without; and with COUNT=1 the instructions of the newer program on the trained
# input, built with each profile, against those without any; and with FOUND="plain -16 clang-22" the share of counts for
# which each of these compilers finds a statement in the newer sources, as afdo explain has it: of the stale profile, of
# that which was rebased by marks, and of the fresh one. COMPILER is the suffix of the compiler, by default that of
# gcc itself, KEEP a folder for what is built, and what is there is not built again.
set -euo pipefail
old=$(cd "$1" && pwd)
new=$(cd "$2" && pwd)
shift 2
wanted=("$@")
[ $# -gt 0 ] || wanted=(lua zstd fmt tinyxml2 cjson expat lz4)
. "$(dirname "${BASH_SOURCE[0]}")/version.sh"

# instructions PROFILE prints what the newer program takes with a profile, against none.
instructions() {
	local flag=
	if [ -n "$1" ]; then
		"$keep/afdo" convert "$1" --to "$([ "$suffix" = -16 ] && echo v3 || echo v2)" -o "$base.use" 2>/dev/null
		flag=-fauto-profile=$base.use
	fi
	build "$program" "$suffix" "$base.with" $flag
	count "$program" "$base.with" train
}

# found PROFILE SUFFIX prints the share of a profile's counts that a compiler finds.
found() {
	local profile=$1
	case $2 in clang*)
		profile=$base.found
		"$keep/afdo" convert "$1" --to extbinary -o "$profile" 2>/dev/null
		;;
	esac
	# Words of the compiler and of flags are split.
	# shellcheck disable=SC2046
	"$keep/afdo" explain --no-rebase --json -n 1 "$profile" -j "${JOBS:-2}" -- $(compiler "$program" "$2") "${OPT--O2}" -w $(flags "$program") -c $(files "$program") |
		tr ',' '\n' | awk -F': ' '/"found_share"/ {printf "%.3f", $2; exit}'
}

percent() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%+.1f", 100 * (b - a) / a}'; }

# remembers prints the share of the bytes of a profile that are about its sources.
remembers() {
	"$keep/afdo" convert --no-sources "$1" --to v4c -o "$1.without" 2>/dev/null
	awk -v all="$(stat -c %s "$1")" -v without="$(stat -c %s "$1.without")" 'BEGIN {printf "%.1f %%", 100 * (all - without) / without}'
}

echo '| program | overlap: stale | rebased, by marks | by texts | with debug info | the same functions | marks | instructions: fresh | stale | rebased |'"$(printf ' found by %s: stale | rebased | fresh |' ${FOUND-})"
echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|'"$(printf -- '--:|--:|--:|%.0s' ${FOUND-})"
for program in "${wanted[@]}"; do
	version old "$old" "$program"
	stale=$base.afdo oldtree=$tree
	version new "$new" "$program"
	fresh=$base.afdo
	"$keep/afdo" rebase "$stale" --source "$tree" -o "$base.marks.afdo" >"$base.report"
	"$keep/afdo" rebase "$stale" --old-source "$oldtree" --source "$tree" -o "$base.text.afdo" >"$base.report"
	"$keep/afdo" rebase "$stale" --old-source "$oldtree" --source "$tree" --binary "$base" -o "$base.rebased.afdo" >"$base.report"
	printf '| %s %s, %s | %s | %s | %s | %s | %s | %s |' "$program" "$(basename "$oldtree" | sed 's/.*-\([0-9].*\)-.*/\1/')" "$(basename "$tree" | sed 's/.*-\([0-9].*\)-.*/\1/')" \
		"$(overlap "$stale" "$fresh")" "$(overlap "$base.marks.afdo" "$fresh")" "$(overlap "$base.text.afdo" "$fresh")" \
		"$(overlap "$base.rebased.afdo" "$fresh")" "$(overlap "$base.rebased.afdo" "$fresh" functions)" "$(remembers "$stale")"
	if [ -n "${COUNT-}" ]; then
		none=$(instructions "")
		for p in "$fresh" "$stale" "$base.rebased.afdo"; do
			took=$(instructions "$p")
			printf ' %s |' "$(percent "$none" "$took")"
		done
	fi
	for c in ${FOUND-}; do
		for p in "$stale" "$base.marks.afdo" "$fresh"; do
			printf ' %s |' "$(found "$p" "$c")"
		done
	done
	echo
done
