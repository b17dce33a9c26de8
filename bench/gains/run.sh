#!/usr/bin/env bash
# What do the ways to use a profile gain with GCC? Builds each program without a profile (plain), with afdo's counts of lines
# and of arcs, with GCC's own guesses as counts, and with instrumentation (pgo), and measures all on another input than
# the recorded one: instructions by cachegrind, the size of the code, and processor time.
#
#	KEEP=DIR CC=-16 ROUNDS=20 bench/gains/run.sh SOURCES [PROGRAM...]
#
# SOURCES has the source packages, unpacked by dpkg-source. Programs are those of ../arcs/programs.sh, of
# ../pays/programs.sh, and of ../panel/programs, which are built by their own build systems. KEEP is a folder for what
# is made, so that a program is not built again. CC is the suffix of the compiler. VARIANTS are the ways, by default
# "lines arcs guess pgo"; bare is arcs of a profile without evidence, and only is pgo without its counters of values.
# lines+bolt and arcs+bolt are these, laid out by llvm-bolt.
# lines, arcs, pgo and only may have flags of the compiler behind a colon, with commas in place of blanks: arcs:-fno-tracer.
# ROUNDS is how often each program is timed, which needs an idle machine. In parentheses is the time in % of the first
# way's, if there are others. ORDERS=1 links each program anew for each round, with its functions in random order, since
# the order alone changes the time by some percent. It needs lld and programs that this script builds itself.
# STEPS=30s records by steps for that time, which needs a folder of its own, in place of callgrind. SIZES=10s records by
# steps in addition to callgrind, for the sizes of memcpy alone.
set -euo pipefail
[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: $0 SOURCES [PROGRAM...]; the script's first lines explain it" >&2; exit 2; }
gains=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$gains/../.." && pwd)
sources=$(cd "$1" && pwd) suffix=${CC-} rounds=${ROUNDS-0}
unset CC # which is not a compiler for go build
read -ra variants <<<"${VARIANTS-lines arcs guess pgo}"
named=("${@:2}")
[ $# -gt 1 ] || named=(bzip2 picosat minisat zopfli lzip tcc duktape lua mawk mujs)
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
work=$(cd "$work" && pwd)
if [ ${#named[@]} != 1 ]; then
	echo '| program | way | instructions, % | size, % | processor time, % |'
	echo '|---|---|--:|--:|--:|'
	for program in "${named[@]}"; do CC=$suffix KEEP=$work "$0" "$sources" "$program" || echo "| $program$suffix | failed | | | |"; done
	exit
fi
go build -C "$root" -o "$work/afdo" ./cmd/afdo
go build -C "$root/bench" -o "$work/arcs" ./arcs
go build -C "$root/bench" -o "$work/pays" ./pays
export AFDO_CACHE_DIR=$work/cache

notes=(-fprofile-use -Wno-missing-profile -ftest-coverage -fdump-ipa-profile-lineno-blocks-details -flto)
counts=(-fprofile-use -Wno-missing-profile -Wno-coverage-mismatch -fprofile-correction)

# choose PROGRAM reads what the program is made of: its set's files, flags, compiler, libraries and commands.
choose() {
	programs=("$1")
	if [[ " bzip2 picosat minisat zopfli lzip tcc duktape lua mawk mujs cmark " == *" $1 "* ]]; then
		here=$root/bench/arcs
		source "$here/programs.sh"
		set +o pipefail # head ends before cat
		prepare
		set -o pipefail
		return
	fi
	here=$root/bench/pays
	source "$here/programs.sh"
	if [ -n "$(files "$1")" ]; then
		prepare
		libraries() { echo -lm -lpthread -lz; }
		commands() { input "$@"; }
		return
	fi
	line=$(grep "^$1|" "$gains/../panel/programs")
	tree=$(echo "$sources/$1"-*/)
	commands() { echo "$work/$1.$2"; }
	local i
	for i in train other; do
		[ -e "$work/$1.$i" ] || bash "$gains/../panel/run.sh" --input "$(cut -d'|' -f4 <<<"$line")" "$([ $i = train ] && echo 1 || echo 2)" >"$work/$1.$i"
	done
}

choose "${named[0]}" # before the functions below, since the set has others of these names

# compile PROGRAM FOLDER LAUNCHER FLAGS... compiles into a folder, or builds the whole package there.
compile() {
	local cc folder=$2 launcher=$3
	cc="$launcher $(compiler "$1" "$suffix")"
	mkdir -p "$folder"
	if [ -n "${line-}" ]; then
		cp -a "$tree/." "$folder"
		(cd "$folder" && export CC="$launcher gcc$suffix -w ${*:4}" CXX="$launcher g++$suffix -w ${*:4}" CFLAGS='-O2 -g' CXXFLAGS='-O2 -g' &&
			sh -c "$(cut -d'|' -f2 <<<"$line")") >"$folder.log" 2>&1
		return
	fi
	files "$1" | xargs -n 1 | (cd "$folder" && xargs -P 2 -I{} sh -c 'name=$(echo "$1" | tr / _); shift; "$@" -c "$0" -o "$name.o"' {} {} $cc -O2 -g -w ${ORDERS:+-ffunction-sections} $(flags "$1") "${@:4}")
}

# build PROGRAM FOLDER LAUNCHER FLAGS... makes FOLDER.x.
build() {
	compile "$@"
	if [ -n "${line-}" ]; then
		printf '#!/bin/sh\nIN=$1\ncd %q\nexec %s\n' "$2" "$(cut -d'|' -f3 <<<"$line")" >"$2.x"
		chmod +x "$2.x"
		return
	fi
	$(compiler "$1" "$suffix") -O2 -g "${@:4}" -o "$2.x" "$2"/*.o $extra $(libraries "$1")
}

# orders PROGRAM FOLDER links FOLDER.x.N for each round N, with its functions in random order.
orders() {
	local i
	mkdir -p "$work/linker"
	ln -sf "$(command -v ld.lld ld.lld-22 | head -n 1)" "$work/linker/ld.lld"
	for ((i = 1; i <= rounds; i++)); do
		$(compiler "$1" "$suffix") -B"$work/linker" -fuse-ld=lld "-Wl,-s,-z,keep-text-section-prefix,--shuffle-sections=*=$i" -o "$2.x.$i" "$2"/*.o $extra $(libraries "$1")
	done
}

# binary FOLDER prints the program itself.
binary() {
	local words
	if [ -z "${line-}" ]; then echo "$1.x"; return; fi
	words=$(cut -d'|' -f3 <<<"$line")
	find "$1/${words%% *}" "$1"/$(dirname "${words%% *}")/.libs -name "$(basename "${words%% *}")" -type f 2>/dev/null | while read -r f; do
		if file -b "$f" | grep -q ELF; then echo "$f"; fi
	done | head -n 1
}

# each PROGRAM INPUT COMMAND... runs a command with the program's arguments after it, once for each run.
each() {
	local words input n=0
	commands "$1" "$2" | while read -r words; do
		input=/dev/null n=$((n + 1))
		[[ $words != *' < '* ]] || input=${words#* < } words=${words% < *}
		N=$n "${@:3}" $words <"$input" || [ $? -lt 126 ]
	done
}

counted() {
	each "$1" "$3" setarch -R valgrind --trace-children=yes --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$2" 2>&1 >/dev/null |
		awk '$2 == "I" && $3 == "refs:" {gsub(",", ""); n += $NF} END {printf "%.0f\n", n}'
}
callgrind() { setarch -R valgrind -q --trace-children=yes --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$out.$N.%p" "$@" >/dev/null 2>&1; }
code() { size "$(binary "$1")" | awk 'NR == 2 {print $1}'; }

# steps PROGRAM TIME FILE records the plain build by steps.
steps() {
	commands "$1" train | sed "s|^|$dir/plain.x |; s|\$| >/dev/null|" >"$dir/training"
	"$work/afdo" record --event steps --duration "$2" -o "$3" -- sh -c "while :; do . $dir/training; done" >/dev/null 2>&1
}

# profile PROGRAM records the plain build, and makes a profile of it.
profile() {
	if [ -z "${STEPS-}" ]; then
		rm -f "$dir"/callgrind.*
		out=$dir/callgrind each "$1" train callgrind "$dir/plain.x"
	else
		steps "$1" "$STEPS" "$dir/callgrind.1"
	fi
	local recording wanted=()
	if [ -n "${SIZES-}" ]; then
		steps "$1" "$SIZES" "$dir/sizes"
		wanted=(--sizes "$dir/sizes")
	fi
	for recording in "$dir"/callgrind.*; do
		[ -n "${STEPS-}" ] || grep -q "ob=.*$(basename "$(binary "$dir/plain")")" "$recording" || continue
		wanted+=(--profile "$recording")
	done
	"$work/afdo" create --binary "$(binary "$dir/plain")" "${wanted[@]}" -o "$dir/profile" >"$dir/create.log" 2>&1
}

# bolt PROGRAM FOLDER records the program in FOLDER, and has llvm-bolt lay it out.
bolt() {
	local binary recordings
	binary=$(binary "$2")
	rm -f "$2".callgrind.*
	out=$2.callgrind each "$1" train callgrind "$2.x"
	recordings=$(grep -l "ob=.*$(basename "$binary")" "$2".callgrind.* | sed 's/^/--profile /')
	"$work/afdo" create --binary "$binary" $recordings --to fdata -o "$2.fdata"
	llvm-bolt-22 "$binary" -o "$2.bolted" -data "$2.fdata" -reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -split-eh
	mv "$2.bolted" "$binary"
} >/dev/null 2>&1

make_variant() {
	local program=$1 way=${2%%:*} flags
	IFS=, read -ra flags <<<"${2#"$way"}"
	flags=("${flags[@]#:}")
	case $way in
	plain)
		build "$program" "$dir/plain" ""
		[[ $here != */arcs ]] || compressed "$program" "$dir/plain.x"
		;;
	lines | arcs) build "$program" "$dir/$2" "$work/afdo exec --as $way --profile $dir/profile --" "${flags[@]}" ;;
	lines+bolt | arcs+bolt)
		build "$program" "$dir/$2" "$work/afdo exec --as ${way%+bolt} --profile $dir/profile --" -fno-reorder-blocks-and-partition -Wl,-q
		bolt "$program" "$dir/$2"
		;;
	bare)
		"$work/afdo" convert "$dir/profile" --to v4c --no-evidence -o "$dir/profile.bare"
		build "$program" "$dir/$2" "$work/afdo exec --as arcs --profile $dir/profile.bare --"
		;;
	pgo)
		if [ ! -e "$dir/truth" ]; then
			extra=$work/strtol.o build "$program" "$dir/pgo" "" -fprofile-generate
			find "$dir/pgo" -name '*.gcda' -delete
			each "$program" train "$dir/pgo.x" >/dev/null 2>&1
			mkdir "$dir/truth"
			(cd "$dir/pgo" && find . -name '*.gcda' -exec cp --parents {} "$dir/truth" \;)
		fi
		rm -rf "${dir:?}/$2" && mkdir "$dir/$2" && cp -a "$dir/truth/." "$dir/$2"
		build "$program" "$dir/$2" "" -fprofile-use -Wno-missing-profile -fprofile-correction "${flags[@]}"
		;;
	only)
		(cd "$dir/truth" && find . -name '*.gcda' -printf '%h\n' | sort -u) | while read -r folder; do
			"$work/arcs" only "$dir/truth/$folder" "$dir/$2/$folder"
		done
		build "$program" "$dir/$2" "" "${counts[@]}" "${flags[@]}"
		;;
	guess)
		compile "$program" "$dir/notes" "" "${notes[@]}"
		(cd "$dir/notes" && find . -name '*.gcno' -printf '%h\n' | sort -u) | while read -r folder; do
			"$work/arcs" guess "$dir/notes/$folder" "$dir/guess/$folder"
		done
		build "$program" "$dir/guess" "" "${counts[@]}"
		;;
	esac
	counted "$program" "$dir/$2.x" other >"$dir/$2.n"
	code "$dir/$2" >"$dir/$2.size"
}

# The libgcov of a compiler from a newer system needs a function that C libraries before 2.38 lack.
echo 'long strtol(const char *, char **, int); __attribute__((weak)) long __isoc23_strtol(const char *s, char **e, int b) { return strtol(s, e, b); }' >"$work/strtol.c"
gcc -c "$work/strtol.c" -o "$work/strtol.o"
export work dir out
extra=

measure() {
	dir=$work/$1$suffix
	mkdir -p "$dir"
	local v
	for v in plain "${variants[@]}"; do
		[ -e "$dir/$v.n" ] || { rm -rf "${dir:?}/$v"; make_variant "$1" "$v"; }
		if [ "$v" = plain ] && [ ! -e "$dir/profile" ]; then profile "$1"; fi
	done
	local names=("${variants[@]}") times=""
	if [ "$rounds" != 0 ]; then
		commands "$1" other >"$dir/commands"
		if [ -n "${ORDERS-}" ]; then
			for v in plain "${names[@]}"; do orders "$1" "$dir/$v"; done
		fi
		times=$("$work/pays" race "$rounds" "$dir/commands" $(printf "$dir/%s.x${ORDERS:+.%%d} " plain "${names[@]}"))
	fi
	awk -v program="$1$suffix" -v dir="$dir" -v names="plain ${names[*]}" -v times="$times" 'BEGIN {
		n = split(names, name, " "); split(times, time, " ")
		for (i = 1; i <= n; i++) { getline c[i] <(dir "/" name[i] ".n"); getline s[i] <(dir "/" name[i] ".size") }
		for (i = 2; i <= n; i++) printf "| %s | %s | %+.2f | %+.1f | %s |\n", program, name[i], 100 * (c[i] / c[1] - 1), 100 * (s[i] / s[1] - 1), time[i - 1] }'
}

measure "${named[0]}"
