#!/usr/bin/env bash
# How good are recordings by steps? Builds programs, records them by steps and by cpu-clock, and compares the profiles
# with the exact profile, which callgrind counts. Then it compiles the programs with each profile, and counts their
# instructions with callgrind:
#
#	bench/steps/run.sh SOURCES [PROGRAM...]
#
# SOURCES is a folder with unpacked Debian source packages, as for bench/pays/run.sh. The programs are those of
# bench/pays. By default:
#
#	lua brotli    programs in C
#	leveldb       a program in C++
#	zstdmt        a program whose time is in four threads
#	libpng        a program that spends most of its time in a shared library, zlib
#
# A recording runs the training input again and again, in a new process each time. These variables select what is
# measured:
#
#	COMPILERS     suffixes of gcc, or names of clangs (plain for gcc, -16 if gcc-16 is there, clang-22 if it is there)
#	OVERHEADS     values of --overhead (1% 2% 5% 10%)
#	KINDS         other profiles (exact cpu-clock)
#	COMPILED      profiles with which the programs are compiled (exact cpu-clock 5%)
#	RECORDINGS    recordings of each kind (3)
#	SECONDS_EACH  length of a recording (60)
#	MINUTES       no row is begun after this time
#	KEEP          folder for what is made. A row that is there already is not measured again, so a run can be continued
#
# The rows go to standard output, and then a summary of all rows for each kind. Similarity depends on the machine: a
# stop takes 10 us on some, and 100 us on a busy virtual one. So a row also has the number of samples, and the load of
# the machine after the recording.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../pays" && pwd)
root=$here/../..
sources=$(cd "$1" && pwd)
shift
programs=("$@")
[ $# -gt 0 ] || programs=(lua brotli leveldb zstdmt libpng)
. "$here/programs.sh"
read -ra compilers <<<"${COMPILERS-plain $(has gcc-16 -16) $(has clang-22 clang-22)}"
read -ra kinds <<<"${KINDS-exact cpu-clock} ${OVERHEADS-1% 2% 5% 10%}"
read -ra compiled <<<"${COMPILED-exact cpu-clock 5%}"
seconds=${SECONDS_EACH:-60}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

go build -C "$root" -o "$work/afdo" ./cmd/afdo
prepare

percent() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%+.1f %%", 100 * (b - a) / a}'; }
similarity() { "$work/afdo" diff "$1" "$2" | awk '/Similarity/ {printf "%.3f", $2}'; }

# yielding runs a function at a low priority, so that only recordings take time from others.
yielding() { (renice -n 10 -p "$BASHPID" >/dev/null && "$@"); }

# version SUFFIX prints the version of a compiler.
version() {
	case $1 in clang*) "$1" -dumpversion ;; *) "gcc${1#plain}" -dumpfullversion ;; esac
}

# once FILE COMMAND... prints what a command prints. A file remembers it.
once() {
	if [ ! -s "$1" ]; then
		"${@:2}" >"$1.new"
		mv "$1.new" "$1"
	fi
	cat "$1"
}

# baseline builds the program without a profile, and sets the numbers of instructions of its inputs.
baseline() {
	base=$work/$program$suffix
	if [ ! -e "$base.built" ]; then
		yielding build "$program" "$suffix" "$base"
		touch "$base.built"
	fi
	train=$(once "$base.instructions.train" yielding count "$program" "$base" train "$base.train")
	other=$(once "$base.instructions.other" yielding count "$program" "$base" other)
}

# record FILE KIND records the training input, by cpu-clock or by steps of an overhead.
record() {
	local input=train how=(--event cpu-clock)
	[ "$program" != lua ] || input=$here/programs/train.lua
	[ "$2" = cpu-clock ] || how=(--event steps --overhead "$2")
	"$work/afdo" record "${how[@]}" -o "$1.data" -- \
		bash -c 'while [ $SECONDS -lt "$0" ]; do "$@" >/dev/null; done' "$seconds" "$base" "$input" 2>"$1.log" ||
		{ cat "$1.log" >&2; return 1; }
	cut -d' ' -f1 /proc/loadavg >"$1.load"
}

# profile FILE KIND makes the profile FILE.prof.
profile() {
	local format=v2 from=$1.data
	case $suffix in -16) format=v3 ;; clang*) format=extbinary ;; esac
	[ "$2" = exact ] && from=$base.train || record "$1" "$2"
	"$work/afdo" create --allow-poor --binary "$base" --profile "$from" --to $format -o "$1.prof" 2>"$1.create"
}

# compiled_with PROFILE TO builds the program with a profile.
compiled_with() {
	yielding build "$program" "$suffix" "$2" $(use "$suffix" "$1") 2>"$2.said" || {
		cat "$2.said" >&2
		grep -q 'internal compiler error' "$2.said" && return 1
		exit 1
	}
}

# row FILE KIND NUMBER prints a line of the table.
row() {
	local samples='' load='' gains='| |' with=$1.with
	profile "$1" "$2"
	if [ "$2" != exact ]; then
		samples=$(awk '/ samples? of / {print $2}' "$1.log")
		load=$(<"$1.load")
	fi
	if [[ " ${compiled[*]} " == *" $2 "* ]]; then
		gains='crash | crash |' # of the compiler
		! compiled_with "$1.prof" "$with" || gains="$(percent "$train" "$(yielding count "$program" "$with" train)") | $(percent "$other" "$(yielding count "$program" "$with" other)") |"
		rm -rf "$with" "$with.o"
	fi
	printf '| %s | %s | %s | %s | %s | %s | %s | %s\n' "$program" "$(version "$suffix")" "$2" "$3" \
		"$(similarity "$work/$program$suffix.exact.prof" "$1.prof" || true)" "$samples" "$load" "$gains"
}

# summary reads all rows, and prints what the recordings of each kind are worth. A share of the exact profile's gain
# counts if that gain is at least 1 %.
summary() {
	awk -F' *[|] *' '
		function sorted(list, n,  i, j, x) {
			for (i = 2; i <= n; i++) { x = list[i]; for (j = i - 1; j > 0 && list[j] > x; j--) list[j + 1] = list[j]; list[j + 1] = x }
		}
		function median(values,  list, n, i) {
			n = split(values, list, " ")
			for (i = 1; i <= n; i++) list[i] += 0
			sorted(list, n)
			return n == 0 ? "" : n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
		}
		function lowest(values,  list, n, i) {
			n = split(values, list, " ")
			for (i = 1; i <= n; i++) list[i] += 0
			sorted(list, n)
			return list[1]
		}
		function formatted(format, value) { return value == "" ? "" : sprintf(format, value) }
		function share(gain, exact) { return -exact >= 1 ? " " 100 * gain / exact : "" }
		{ key = $2 "|" $3; kind = $4 }
		kind == "exact" { trained[key] = $9 + 0; other[key] = $10 + 0; next }
		{
			if (!(kind in rows)) order[++kinds] = kind
			rows[kind]++
			similar[kind] = similar[kind] " " $6
			if ($9 == "" || $9 == "crash" || !(key in trained)) next
			gain[kind] = gain[kind] share($9 + 0, trained[key])
			gainOther[kind] = gainOther[kind] share($10 + 0, other[key])
			slower[kind] += ($9 + 0 > 0.05 && trained[key] <= 0) + ($10 + 0 > 0.05 && other[key] <= 0)
		}
		END {
			print "\n| profile | recordings | similarity: median | lowest | share of the exact gain: trained input | other input | slower, where exact is not |"
			print "|---|--:|--:|--:|--:|--:|--:|"
			for (i = 1; i <= kinds; i++) {
				k = order[i]
				printf "| %s | %d | %s | %s | %s | %s | %s |\n", k, rows[k], formatted("%.3f", median(similar[k])), formatted("%.3f", lowest(similar[k])),
					formatted("%.0f %%", median(gain[k])), formatted("%.0f %%", median(gainOther[k])), slower[k]
			}
		}' "$work"/*.exact.row "$work"/*.row
}

printf '| program | compiler | profile | recording | similarity | samples | load | trained input | other input |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n'
for number in $(seq "${RECORDINGS:-3}"); do
	for suffix in "${compilers[@]}"; do
		for program in "${programs[@]}"; do
			for kind in "${kinds[@]}"; do
				name=$work/$program$suffix.$kind.$number
				if [ "$kind" = exact ]; then
					[ "$number" = 1 ] || continue
					name=$work/$program$suffix.exact
				fi
				if [ ! -s "$name.row" ]; then
					[ "$SECONDS" -lt $((60 * ${MINUTES:-100000})) ] || continue
					baseline
				fi
				once "$name.row" row "$name" "$kind" "$number"
			done
		done
	done
done
summary
