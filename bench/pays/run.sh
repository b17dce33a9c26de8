#!/usr/bin/env bash
# Does it pay? Builds programs without and with profiles that afdo create makes of callgrind's counts, and counts
# their instructions with callgrind:
#
#	bench/pays/run.sh SOURCES [PROGRAM...]
#
# SOURCES is a folder with the sources of Lua 5.4, zstd, re2, fmt and LevelDB, as Debian's source packages unpack
# (lua5.4-*, libzstd-*, re2-*, fmtlib-*, leveldb-*). The table goes to standard output, a line a program and
# compiler. COMPILERS names the suffixes of the compilers, by default those of gcc and, if it is there, gcc-16;
# VARIANTS the profiles, KEEP a folder for what is built. It takes minutes a program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
sources=$(cd "$1" && pwd)
shift
programs=("$@")
[ $# -gt 0 ] || programs=(lua zstd re2 fmt leveldb calc)
read -ra compilers <<<"${COMPILERS-plain $(command -v gcc-16 >/dev/null && echo -16)}"
read -ra variants <<<"${VARIANTS-exact heads zeros sum targets lbr addresses}"
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
period=${PERIOD:-2003}

go build -C "$root" -o "$work/afdo" ./cmd/afdo
go build -C "$root" -o "$work/pays" ./bench/pays

# Headers that the build systems of Debian and LevelDB would make.
mkdir -p "$work/lua" "$work/leveldb/port"
echo '#define DEB_HOST_MULTIARCH "none"' >"$work/lua/lua5.4-deb-multiarch.h"
: >"$work/leveldb/port/port_config.h"

# files PROGRAM prints the source files of a program, and flags NAME the flags they need.
files() {
	case $1 in
	lua) ls "$sources"/lua5.4-*/src/*.c | grep -v -e /luac.c -e /onelua.c -e /ltests.c ;;
	zstd) ls "$sources"/libzstd-*/lib/{common,compress,decompress}/*.c "$here/programs/zstd.c" ;;
	re2) ls "$sources"/re2-*/re2/*.cc "$sources"/re2-*/util/{rune,strutil}.cc "$here/programs/re2.cc" | grep -v /fuzzing ;;
	calc) echo "$here/programs/calc.c" ;;
	fmt) ls "$sources"/fmtlib-*/src/{format,os}.cc "$here/programs/fmt.cc" ;;
	leveldb) ls "$sources"/leveldb-*/{db,table,util,helpers/memenv}/*.cc "$here/programs/leveldb.cc" |
		grep -v -e _test -e testutil -e windows -e /db/leveldbutil -e /db/c.cc ;;
	esac
}

flags() {
	case $1 in
	lua) echo -DLUA_USE_POSIX -DLUA_COMPAT_5_3 -I"$work/lua" ;;
	zstd) echo -DZSTD_DISABLE_ASM -I"$(echo "$sources"/libzstd-*/lib)" ;;
	re2) echo -I"$(echo "$sources"/re2-*)" ;;
	fmt) echo -I"$(echo "$sources"/fmtlib-*/include)" ;;
	leveldb) echo -DLEVELDB_PLATFORM_POSIX=1 -DLEVELDB_IS_BIG_ENDIAN=0 -DHAVE_FDATASYNC=1 -DHAVE_O_CLOEXEC=1 -fno-rtti -fno-exceptions \
		-I"$work/leveldb" -I"$(echo "$sources"/leveldb-*)" -I"$(echo "$sources"/leveldb-*/include)" ;;
	esac
}

# build PROGRAM SUFFIX OUT FLAGS... compiles and links.
build() {
	local program=$1 suffix=${2#plain} out=$3 cc file
	shift 3
	rm -rf "$out.o"
	mkdir "$out.o"
	case $program in lua | zstd | calc) cc=gcc$suffix ;; *) cc="g++$suffix -std=c++17" ;; esac
	files "$program" | xargs -P "${JOBS:-2}" -I{} sh -c '
		name=$(echo "$1" | tr / _)
		shift
		"$@" -c "$0" -o "$out.o/$name.o"' {} {} $cc -O2 -g -w $(flags "$program") "$@"
	$cc -O2 -g -o "$out" "$out".o/*.o -lm -lpthread
}
export out

# count PROGRAM BINARY INPUT [CALLGRIND] prints how many instructions of the binary itself run.
count() {
	local program=$1 binary=$2 input=$3 to=${4:-$work/counts}
	[ "$program" != lua ] || input=$here/programs/$input.lua
	setarch -R valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$to" "$binary" "$input" >"$to.said"
	"$work/afdo" create --binary "$binary" --profile "$to" --to samples -o - | awk -F: 'NF == 2 && !/->/ {n += $2} END {printf "%d", n}'
}

code() { size "$1" | awk 'NR == 2 {print $1}'; }

# profile PROGRAM SUFFIX VARIANT makes the profile of a variant and prints its path.
profile() {
	local base=$work/$1$2 to version=v2 from=$work/$1$2.train
	to=$base.$3.prof
	[ "$2" != -16 ] || version=v3
	case $3 in
	exact) "$work/afdo" create --binary "$base" --profile "$from" --to $version -o "$to" ;;
	sum) "$work/afdo" create --binary "$base" --profile "$from" --combine sum --to $version -o "$to" ;;
	lbr | addresses)
		"$work/pays" sample "$period" "$base" "$from" "$to.samples"
		"$work/afdo" create --binary "$base" --profile "$to.samples" $([ "$3" = lbr ] || echo --no-branches) --to $version -o "$to"
		;;
	*)
		"$work/afdo" create --binary "$base" --profile "$from" --to v2 -o "$to.whole"
		"$work/pays" vary "$3" "$to.whole" "$to.v2"
		"$work/afdo" convert "$to.v2" --to $version -o "$to"
		;;
	esac 2>"$to.log" || { cat "$to.log" >&2; return 1; }
	echo "$to"
}

percent() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%+.1f %%", 100 * (b - a) / a}'; }

printf '| program | compiler | profile | trained input | other input | code |\n|---|---|---|---|---|---|\n'
for program in "${programs[@]}"; do
	for suffix in "${compilers[@]}"; do
		base=$work/$program$suffix
		out=$base build "$program" "$suffix" "$base"
		train=$(count "$program" "$base" train "$base.train")
		other=$(count "$program" "$base" other)
		compiler=$(gcc${suffix#plain} -dumpfullversion)
		printf '| %s | %s | none | %.1f M | %.1f M | %d |\n' "$program" "$compiler" "$((train / 100000))e-1" "$((other / 100000))e-1" "$(code "$base")"
		for variant in "${variants[@]}"; do
			prof=$(profile "$program" "$suffix" "$variant")
			with=$base.$variant
			out=$with build "$program" "$suffix" "$with" -fauto-profile="$prof"
			printf '| | | %s | %s | %s | %s |\n' "$variant" "$(percent "$train" "$(count "$program" "$with" train)")" \
				"$(percent "$other" "$(count "$program" "$with" other)")" "$(percent "$(code "$base")" "$(code "$with")")"
		done
	done
done
