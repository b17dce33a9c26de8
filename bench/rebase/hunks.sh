#!/usr/bin/env bash
# What does a single edit do to a profile? Applies single hunks of the newer version's diff to the older sources, each
# alone, profiles the program that comes of it with the same training, and compares the older sources' profile with its,
# as bench/rebase/run.sh does:
#
#	bench/rebase/hunks.sh OLD NEW [PROGRAM...]
#
# By default, programs are lua, lz4 and cjson. Of each, HUNKS hunks (24) are taken that apply, compile, run, and change
# what is recorded, in the order of their checksums; MOST (4 times as many) is how many are tried. The table of all goes
# to standard output, and each hunk's row to standard error. A hunk is below stale if rebased by marks its overlap is less
# than the stale profile's by more than 0.005; such hunks are kept as KEEP/below.*. A ccache in the PATH helps.
set -euo pipefail
self=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
shift 2
# shellcheck disable=SC2034
wanted=("$@")
[ $# -gt 0 ] || wanted=(lua lz4 cjson)
. "$self/version.sh"
hunks=${HUNKS:-24}

# split PROGRAM writes each hunk that the folders of a program's files have into $1.patches, by its checksum.
split() {
	rm -rf "$1.patches"
	mkdir "$1.patches"
	for d in $(sources=$old work=$keep/old files "$program" | grep "^$oldtree/" | xargs -n 1 dirname | sort -u); do
		diff -U2 "$d" "$newtree${d#"$oldtree"}" || true
	done | awk -v cut=$((${#oldtree} + 2)) -v to="$1.patches/" '
		/^--- / {file = substr($2, cut); keep = file ~ /\.(c|h|cc|cpp)$/; in_hunk = 0; next}
		/^(Only in|diff|\+\+\+) / && !in_hunk {next}
		/^(Only in|diff) / {in_hunk = 0; next}
		/^@@/ {in_hunk = 1; if (out) close(out); out = to n++; if (keep) print "--- a/" file "\n+++ b/" file >out}
		in_hunk && keep {print >out}'
	for p in "$1.patches"/*; do
		mv "$p" "$1.patches/$(sha1sum <"$p" | cut -c1-12).patch"
	done
}

# try PATCH applies a hunk, and prints the overlap with what is recorded then: stale, by marks and by texts.
try() {
	rm -rf "$keep/hunk/$program"*
	cp -a "$oldtree/." "$edited/$(basename "$oldtree")"
	patch -s -p1 -d "$edited/$(basename "$oldtree")" <"$1" >/dev/null || return
	version hunk "$edited" "$program" 2>/dev/null || return
	local stale marks texts
	stale=$(overlap "$before" "$base.afdo")
	[ "$stale" != 1.000 ] || return
	"$keep/afdo" rebase "$before" --source "$tree" -o "$base.marks.afdo" >"$base.report" || return
	"$keep/afdo" rebase "$before" --old-source "$oldtree" --source "$tree" -o "$base.text.afdo" >"$base.report" || return
	marks=$(overlap "$base.marks.afdo" "$base.afdo") texts=$(overlap "$base.text.afdo" "$base.afdo")
	echo "$stale $marks $texts"
}

# summary prints the row of a program.
summary() {
	column() { cut -d' ' -f"$1" | sort -n; }
	median() { awk '{v[NR] = $1} END {printf "%.3f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
	printf '| %s | %s |' "$(name)" "$(wc -l <"$1")"
	for c in 1 2 3; do printf ' %s | %s |' "$(column $c <"$1" | median)" "$(column $c <"$1" | head -1)"; done
	for c in 2 3; do printf ' %s |' "$(awk -v c=$c '$c < $1 - 0.005' "$1" | wc -l)"; done
	echo
}

name() { echo "$program $(basename "$oldtree" | sed 's/.*-\([0-9].*\)-.*/\1/'), $(basename "$newtree" | sed 's/.*-\([0-9].*\)-.*/\1/')"; }

echo '| program | hunks | stale: median | worst | by marks: median | worst | by texts: median | worst | below stale, by marks | by texts |'
echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
for program in "${wanted[@]}"; do
	oldtree=$(echo "$old/${folders[$program]}"-*) newtree=$(echo "$new/${folders[$program]}"-*)
	version old "$old" "$program"
	before=$base.afdo edited=$keep/edited.$program
	rows=$keep/$program.rows
	split "$keep/$program"
	: >"$rows"
	most=${MOST:-$((4 * hunks))}
	for patch in "$keep/$program.patches"/*.patch; do
		[ $((most--)) -gt 0 ] && [ "$(wc -l <"$rows")" -lt "$hunks" ] || break
		rm -rf "$edited" && mkdir -p "$edited/$(basename "$oldtree")" "$keep/hunk"
		row=$(try "$patch") || continue
		echo "$row" >>"$rows"
		echo "$program $(basename "$patch" .patch) $row" >&2
		awk '{exit !($2 < $1 - 0.005)}' <<<"$row" && cp "$patch" "$keep/below.$program.$(basename "$patch")" || true
	done
	summary "$rows"
done
