#!/usr/bin/env bash
# Compares ways to give GCC a profile: counts of arcs inferred from a recording, instrumentation (PGO), GCC's own guesses,
# and the profile of lines. Each program is built with -O2 -g, recorded by callgrind, and measured by cachegrind in
# instructions. It needs valgrind, and the sources of the programs in programs.sh, unpacked by dpkg-source.
#
#	KEEP=DIR CC=-16 ./run.sh SOURCES [PROGRAM...]
#
# KEEP is a folder for what is made. CC is the suffix of the compiler, such as -16 for gcc-16. THIN=1000 keeps one count
# of 1,000, and SKEW=1000 skews these samples as well. BUILD=no only compares the counts.
set -eu
[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: $0 SOURCES [PROGRAM...]; the script's first lines explain it" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
sources=$(cd "$1" && pwd) suffix=${CC-}
programs=("${@:2}")
[ $# -gt 1 ] || programs=(bzip2 picosat minisat zopfli lzip tcc duktape lua mawk mujs cmark)
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
work=$(cd "$work" && pwd)
source "$here/programs.sh"
go build -C "$root/bench" -o "$work/arcs" ./arcs
prepare

# compile PROGRAM FOLDER FLAGS... compiles the files into a folder.
compile() {
	local cc file
	cc=$(compiler "$1" "$suffix")
	mkdir -p "$2"
	for file in $(files "$1"); do
		(cd "$2" && $cc -O2 -g -w $(flags "$1") "${@:3}" -c "$file" -o "$(basename "$file").o")
	done
}

# build PROGRAM FOLDER FLAGS... makes FOLDER.x.
build() {
	compile "$@" && $(compiler "$1" "$suffix") -O2 -g "${@:3}" -o "$2.x" "$2"/*.o ${extra-} $(libraries "$1")
}

# each PROGRAM INPUT COMMAND... runs a command with the program's arguments after it, once for each run.
each() {
	local line input n=0
	commands "$1" "$2" | while read -r line; do
		input=/dev/null n=$((n + 1))
		[[ $line != *' < '* ]] || input=${line#* < } line=${line% < *}
		N=$n "${@:3}" $line <"$input" || [ $? -lt 126 ]
	done
}

# counted PROGRAM BINARY INPUT prints the number of instructions.
counted() {
	each "$1" "$3" setarch -R valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$2" 2>&1 >/dev/null |
		awk '$2 == "I" && $3 == "refs:" || $3 == "refs:" {gsub(",", ""); n += $NF} END {printf "%.0f\n", n}'
}
record() { setarch -R valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$out.$N" "$@" >/dev/null 2>&1; }

# once FILE COMMAND... makes a file that is kept.
once() { [ -e "$1" ] || { "${@:2}" && touch "$1"; }; }

percent() { awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN {printf "%+.2f%% (%.2f)", 100 * (b - a) / a, (c - a) ? (b - a) / (c - a) : 0}'; }

# use PROGRAM NAME FLAGS... builds with a profile and prints the gain.
use() {
	build "$1" "$dir/$2" "${@:3}"
	local n
	n=$(counted "$1" "$dir/$2.x" other)
	printf '%s %s %s %s size %+.0f%%\n' "$1" "$suffix" "$2" "$(percent "$(<"$dir/plain.n")" "$n" "$(cat "$dir/pgo.n" 2>/dev/null || echo "$(<"$dir/plain.n")")")" \
		"$(size "$dir/plain.x" "$dir/$2.x" | awk 'NR == 2 {a = $1} NR == 3 {print 100 * ($1 - a) / a}')"
	echo "$n" >"$dir/$2.n"
}

base() {
	build "$1" "$dir/plain"
	compressed "$1" "$dir/plain.x"
	out=$dir/callgrind each "$1" train record "$dir/plain.x"
	counted "$1" "$dir/plain.x" other >"$dir/plain.n"
	compile "$1" "$dir/notes" -fprofile-use -Wno-missing-profile -ftest-coverage -fdump-ipa-profile-lineno-blocks-details -flto
	# The libgcov of a compiler from a newer system needs a function that C libraries before 2.38 lack.
	echo 'long strtol(const char *, char **, int); __attribute__((weak)) long __isoc23_strtol(const char *s, char **e, int b) { return strtol(s, e, b); }' >"$work/strtol.c"
	gcc -c "$work/strtol.c" -o "$work/strtol.o"
	extra=$work/strtol.o build "$1" "$dir/pgo" -fprofile-generate
	rm -f "$dir"/pgo/*.gcda
	each "$1" train "$dir/pgo.x" >/dev/null 2>&1
	mkdir -p "$dir/truth" && cp "$dir"/pgo/*.gcda "$dir/truth"
	use "$1" pgo -fprofile-use -Wno-missing-profile >"$dir/pgo.said"
	"$work/arcs" guess "$dir/notes" "$dir/guess"
	use "$1" guess -fprofile-use -Wno-missing-profile -Wno-coverage-mismatch -fprofile-correction >"$dir/guess.said"
}
export out work dir
for program in "${programs[@]}"; do
	dir=$work/$program$suffix
	mkdir -p "$dir"
	once "$dir/done" base "$program"
	[ "${BUILD-}" = no ] || cat "$dir"/{pgo,guess}.said
	rm -rf "$dir/arcs"
	"$work/arcs" infer ${THIN+thin "$THIN"} ${SKEW+skew "$SKEW"} "$dir/notes" "$dir/truth" "$dir/arcs" "$dir/plain.x" "$dir"/callgrind.*
	[ "${BUILD-}" = no ] || use "$program" arcs -fprofile-use -Wno-missing-profile -Wno-coverage-mismatch -fprofile-correction
done
