#!/bin/bash
# The panel: how "afdo tune" does on programs that nobody has tuned before.
#
#   bench/panel/run.sh [PACKAGE...]
#
# tunes each package of the file "drawn" with its training input, measures it with another one, and
# prints the distribution as Markdown. Packages named on the command line are tuned instead. A
# package that cannot be fetched, built or run is reported as failed and stays in the distribution,
# so the panel is no selection.
#
#   bench/panel/run.sh --draw [SIZE] > bench/panel/drawn
#
# draws SIZE (30) packages of the file "programs" by a fixed rule: those that no document and no
# test of the repository names, in the order of the SHA-256 of "afdo panel " and their name.
#
#   bench/panel/run.sh --input KIND 1|2
#
# prints the input of a kind to train with or to measure with.
#
# Results are kept in WORK (~/.cache/afdo-panel), one JSON for each package, so that the script can
# be stopped and started again. AFDO is the command, CC and CXX are the compilers, and TUNE has more flags
# for tune, such as --layout. Each compiler needs a WORK of its own. Packages of Debian's sources are
# fetched by apt-get, which needs deb-src lines; an apt configuration file can be named in APT_CONFIG.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-$HOME/.cache/afdo-panel} afdo=${AFDO:-afdo}
mkdir -p "$work"

field() { awk -F'|' -v name="$1" -v n="$2" '$1 == name { print $n }' "$here/programs"; }

# draw prints the packages that are drawn.
draw() {
	grep -v '^#' "$here/programs" | cut -d'|' -f1 | while read -r name; do
		git -C "$here" grep -qwI -e "$name" -- ':(top)*.md' ':(top)*_test.go' || printf '%s %s\n' "$(printf 'afdo panel %s' "$name" | sha256sum | cut -c1-16)" "$name"
	done | sort | cut -d' ' -f2 | head -n "${1:-30}"
}

# input writes an input file of a kind: number 1 to train with, 2 to measure with.
input() {
	local kind=$1 number=$2 words="$here/../../docs/guide/autofdo/text.awk"
	case $kind in
	text) for part in 1 2 3; do awk -v seed="$number$part" -f "$words"; done ;;
	json) awk -v seed="$number" -f "$words" | tr -c 'a-zA-Z\n' ' ' | awk 'BEGIN { print "[" } { printf "%s{\"line\": %d, \"text\": \"%s\", \"parts\": [1, 2.5e3, true, null]}\n", (NR > 1 ? "," : ""), NR, $0 } END { print "]" }' ;;
	html) awk -v seed="$number" -f "$words" | tr -c 'a-zA-Z\n' ' ' | awk 'BEGIN { print "<html><head><title>t</title></head><body>" } { print "<p class=\"x\">" $0 " <b>bold</b></p>" } END { print "</body></html>" }' ;;
	c) for file in words table; do awk -v n="$number" '/^#include "/ { next } { lines[NR] = $0 } END { for (i = 0; i < 40 * n; i++) for (j = 1; j <= NR; j++) { line = lines[j]; gsub(/(find|sift|inside|main|table_add|table_new|table_print|hash)/, "&" i, line); print line } }' "$here/../../docs/guide/autofdo/$file.c"; done ;;
	cnf) awk -v seed="$number" 'BEGIN { srand(seed); v = 180; c = 760; print "p cnf", v, c; for (i = 0; i < c; i++) { for (j = 0; j < 3; j++) printf "%d ", (rand() < 0.5 ? -1 : 1) * (1 + int(rand() * v)); print 0 } }' ;;
	graph) awk -v seed="$number" 'BEGIN { srand(seed); v = 120; n = 0; for (i = 1; i <= v; i++) for (j = i + 1; j <= v; j++) if (rand() < 0.7) e[n++] = "e " i " " j; print "p edge", v, n; for (i = 0; i < n; i++) print e[i] }' ;;
	model) awk -v n="$number" 'BEGIN { print "set I := 1.." 30 + 5 * n "; var x{I, I} >= 0; minimize z: sum{i in I, j in I} (i * j mod 17) * x[i,j]; s.t. r{i in I}: sum{j in I} x[i,j] >= i mod 7; s.t. c{j in I}: sum{i in I} x[i,j] <= 90; end;" }' ;;
	grammar) awk -v n="$number" 'BEGIN { print "%token A B\n%%"; for (i = 0; i < 300 * n; i++) printf "r%d: A r%d B | B %s;\n", i, (i + 1) % (300 * n), i % 3 ? "A" : "" ; print "%%" }' ;;
	lexer) awk -v n="$number" 'BEGIN { print "%%"; for (i = 0; i < 60 * n; i++) printf "word%d[a-z]*x%d  return %d;\n", i, i % 7, i + 1; print "%%" }' ;;
	*) return 0 ;;
	esac
}

# tune_one tunes a package. Its result is a JSON with a member "verdict".
tune_one() {
	local name=$1 result="$work/$1.json" folder="$work/$1" run kind
	[ ! -s "$result" ] || return 0
	run=$(field "$name" 3) kind=$(field "$name" 4)
	if [ ! -d "$folder" ]; then
		mkdir -p "$folder.new"
		(cd "$folder.new" && apt-get -qq source "$name" > log 2>&1) || { echo '{"verdict": "failed", "why": "no source package"}' > "$result"; return 0; }
		mv "$folder.new" "$folder"
	fi
	[ "$kind" = none ] || for number in 1 2; do input "$kind" "$number" > "$folder/input$number"; done
	local tree
	tree=$(find "$folder" -mindepth 1 -maxdepth 1 -type d ! -name tune | head -n 1)
	# shellcheck disable=SC2086
	(cd "$tree" && "$afdo" tune --json --time-limit 40m ${TUNE:-} --folder "$folder/tune" \
		--train "IN=$folder/input1; export IN; $run > $folder/out" --measure "IN=$folder/input2; export IN; $run > $folder/out" \
		-- sh -c "$(field "$name" 2)") > "$result.new" 2> "$work/$name.log" ||
		printf '{"verdict": "failed", "why": "%s"}\n' "$(grep -o '^ *"error": ".*' "$work/$name.log" | tail -n 1 | cut -d'"' -f4 | cut -c1-80 | tr -d '\\')" > "$result.new"
	mv "$result.new" "$result"
}

case ${1:-} in
--draw) draw "${2:-}"; exit ;;
--input) input "$2" "$3"; exit ;;
esac
packages=("$@")
[ $# -gt 0 ] || mapfile -t packages < "$here/drawn"
for name in "${packages[@]}"; do
	echo "$name" >&2
	tune_one "$name"
done

echo "| program | verdict | way | processor time | interval | instructions |"
echo "|---|---|---|--:|--:|--:|"
for name in "${packages[@]}"; do
	jq -r --arg name "$name" 'def percent: if . == null then "" else (. * 1000 | round / 10 | tostring) + " %" end;
		def of($what): (.measures // [] | map(select(.what == $what)) | first) // {};
		"| \($name) | \(.verdict) | \(.way // .why) | \(of("processor time").change | percent) | \(of("processor time").low | percent) to \(of("processor time").high | percent) | \(of("instructions").change | percent) |"' "$work/$name.json"
done
echo
for name in "${packages[@]}"; do cat "$work/$name.json"; done |
	jq -rs 'def count($verdict): map(select(.verdict == $verdict)) | length;
		(map(select(.measures) | .measures[0].change) | sort) as $changes |
		"\(length) programs: \(count("faster")) faster, \(count("not decided")) not decided, \(count("slower")) slower, \(count("failed")) failed; the median change is \(if ($changes | length) == 0 then "unknown" else ($changes[($changes | length) / 2 | floor] * 1000 | round / 10 | tostring) + " %" end)."'
