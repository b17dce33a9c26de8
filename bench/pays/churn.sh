#!/usr/bin/env bash
# How many slices and how much code changes with a new profile? Programs share one profile. Some are
# recorded again with other input:
#
#	bench/pays/churn.sh SOURCES [PROGRAM...]
#
# SOURCES and the programs are those of run.sh. The table goes to standard output: for each compiler
# and change, the number of slices that change, for GCC 16 the number that change in version 3 alone,
# and the number of sources whose code changes. What version 3 has and version 2 has not is the
# summary and the bodies that were inlined into functions of other sources. The changes are: each
# program in AGAIN, by default the first one, which records that one again and counts the slices of
# the others; and "all", which records all programs again and compiles with the slices. COMPILERS are
# suffixes as in run.sh, or names of clang. KEEP is a folder for what is built.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
begin "lua lz4 jsoncpp pugixml yamlcpp leveldb" "$@"
read -ra again <<<"${AGAIN-${programs[0]}}"
read -ra compilers <<<"${COMPILERS-plain $(has gcc-16 -16) $(has clang-22 clang-22)}"
afdo=$work/afdo
export AFDO_CACHE_DIR=$work/cache

# recorded PROGRAM INPUT makes a profile of a program, which GCC 12 builds.
recorded() {
	local base=$work/$1plain
	[ ! -f "$base.$2.v4" ] || return 0
	[ -x "$base" ] || build "$1" plain "$base"
	count "$1" "$base" "$2" "$base.$2" >/dev/null
	"$afdo" create --binary "$base" --profile "$base.$2" -o "$base.$2.v4" 2>/dev/null
}

# merged FILE PROGRAM... merges the profiles of all programs: those named are recorded with the other input.
merged() {
	local file=$1 program parts=()
	shift
	for program in "${programs[@]}"; do
		case " $* " in *" $program "*) parts+=("$work/${program}plain.other.v4") ;; *) parts+=("$work/${program}plain.train.v4") ;; esac
	done
	"$afdo" merge --to v4c --index -o "$file" "${parts[@]}" 2>/dev/null
}

# database SUFFIX FILE PROGRAM... writes the compiles of programs, as JSON.
database() {
	local suffix=$1 to=$2 program file word comma=
	shift 2
	{
		echo '['
		for program in "$@"; do
			while read -r file; do
				printf '%s{"directory": "%s", "file": "%s", "arguments": [' "$comma" "$work" "$file"
				for word in $(compiler "$program" "$suffix") -O2 -w $(flags "$program"); do
					printf '"%s", ' "$(sed 's/["\\]/\\&/g' <<<"$word")"
				done
				printf '"-c", "%s", "-o", "%s"]}\n' "$file" "$program$(tr / _ <<<"$file").o"
				comma=,
			done < <(files "$program")
		done
		echo ']'
	} >"$to"
}

# sliced FORMAT PROFILE FOLDER DATABASE writes all slices.
sliced() {
	rm -rf "$3"
	"$afdo" slice "$2" --all --to "$1" -d "$3" --compile-commands "$4" >"$3.said" 2>&1 || { cat "$3.said" >&2; return 1; }
}

# differing A B prints the slices that differ.
differing() { (cd "$1" && find . -name '*.afdo' | while read -r f; do cmp -s "$f" "$2/$f" || echo "$f"; done); }

# coded SUFFIX FOLDER PROGRAM SLICE OUT compiles one source to assembly with its slice.
coded() {
	local suffix=$1 program=$3 file
	file=$(files "$program" | while read -r f; do [ "./$program$(tr / _ <<<"$f").o.afdo" != "$4" ] || echo "$f"; done)
	$(compiler "$program" "$suffix") -O2 -w $(flags "$program") $(use "$suffix" "$2/$4") -S -o "$5" "$file"
}

for program in "${programs[@]}"; do
	recorded "$program" train
	recorded "$program" other
done
merged "$work/before.v4"
merged "$work/all.v4" "${programs[@]}"
for program in ${again[@]+"${again[@]}"}; do
	merged "$work/$program.again.v4" "$program"
done
printf '%-9s %-9s %7s %8s %11s %s\n' compiler again slices changed "only in v3" code
for suffix in "${compilers[@]}"; do
	format=v2
	case $suffix in -16) format=v3 ;; clang*) format=clang ;; esac
	for change in ${again[@]+"${again[@]}"} all; do
		others=("${programs[@]}") after=$work/all.v4
		if [ "$change" != all ]; then
			others=($(printf '%s\n' "${programs[@]}" | grep -vx "$change")) after=$work/$change.again.v4
		fi
		database "$suffix" "$work/compile_commands.json" "${others[@]}"
		for when in before after; do
			profile=$work/before.v4
			[ $when = before ] || profile=$after
			sliced $format "$profile" "$work/$when" "$work/compile_commands.json"
			[ $format != v3 ] || sliced v2 "$profile" "$work/$when.v2" "$work/compile_commands.json"
		done
		differing "$work/before" "$work/after" >"$work/changed"
		only=-
		if [ $format = v3 ]; then
			only=$(comm -23 <(sort "$work/changed") <(differing "$work/before.v2" "$work/after.v2" | sort) | wc -l)
		fi
		printf '%-9s %-9s %7d %8d %11s ' "${suffix/plain/12}" "$change" "$(find "$work/before" -name '*.afdo' | wc -l)" "$(wc -l <"$work/changed")" "$only"
		[ "$change" = all ] || { echo -; continue; }
		code=0
		while read -r f; do
			for program in "${others[@]}"; do
				[[ $f != ./$program* ]] || break
			done
			rm -f "$work/before.s" "$work/after.s"
			coded "$suffix" "$work/before" "$program" "$f" "$work/before.s" &
			coded "$suffix" "$work/after" "$program" "$f" "$work/after.s"
			wait
			[ -s "$work/before.s" ] && [ -s "$work/after.s" ] || { echo "churn: $f is not compiled" >&2; exit 1; }
			cmp -s "$work/before.s" "$work/after.s" || code=$((code + 1))
		done <"$work/changed"
		echo $code
	done
done
