# The programs that the scripts here build: what they are made of, how they are built, run and recorded. A script
# sources this file and calls begin. Another script sets $here (this folder), $sources (of the programs), $work (for
# what is made, with afdo) and $programs (the names of those wanted), and calls prepare.

# begin DEFAULTS SOURCES [PROGRAM...] sets these variables from the arguments of a script, whose programs are DEFAULTS if
# it names none. It builds afdo and pays. KEEP is a folder for what is made, which is deleted otherwise.
begin() {
	[ $# -ge 2 ] && [ -d "$2" ] || { echo "usage: $0 SOURCES [PROGRAM...]; the script's first lines explain it" >&2; exit 2; }
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	root=$here/../..
	sources=$(cd "$2" && pwd)
	read -ra programs <<<"$1"
	[ $# -eq 2 ] || programs=("${@:3}")
	work=${KEEP:-$(mktemp -d)}
	[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
	mkdir -p "$work"
	go build -C "$root" -o "$work/afdo" ./cmd/afdo
	go build -C "$root/bench" -o "$work/pays" ./pays
	prepare
}

# has COMMAND SUFFIX prints the suffix of a compiler if it is there.
has() { ! command -v "$1" >/dev/null || echo "$2"; }

# percent A B prints by how much B differs from A.
percent() { awk -v a="$1" -v b="$2" 'BEGIN {if (b == "failed") printf "failed"; else printf "%+.1f", 100 * (b - a) / a}'; }

# format SUFFIX prints the format of profiles that a compiler reads.
format() {
	case $1 in
	clang*) echo extbinary ;;
	-16) echo v3 ;;
	*) echo v2 ;;
	esac
}

# use SUFFIX PROFILE prints the flags with which afdo exec has a compiler use a profile.
use() {
	local branches="-fno-tracer --param=max-rtl-if-conversion-predictable-cost=40"
	case $1 in
	clang*) echo "-fprofile-sample-use=$2" ;;
	plain | -12) echo "-fauto-profile=$2 $branches --param=max-early-inliner-iterations=10 -fno-unroll-loops" ;;
	-13) echo "-fauto-profile=$2 $branches --param=max-early-inliner-iterations=10" ;;
	*) echo "-fauto-profile=$2 $branches" ;;
	esac
}

# What the build systems of Debian, LevelDB and re2 would make. The tables need python3 with six, perl and Debian's
# unicode-data.
prepare() {
	mkdir -p "$work/lua" "$work/leveldb/port" "$work/re2tables"
	if [[ " ${programs[*]} " == *" re2 "* ]]; then
		make=$(echo "$sources"/re2-*/re2)/make_
		PYTHONDONTWRITEBYTECODE=1 python3 "${make}unicode_casefold.py" >"$work/re2tables/unicode_casefold.cc"
		PYTHONDONTWRITEBYTECODE=1 python3 "${make}unicode_groups.py" >"$work/re2tables/unicode_groups.cc"
		perl "${make}perl_groups.pl" >"$work/re2tables/perl_groups.cc"
	fi
	echo '#define DEB_HOST_MULTIARCH "none"' >"$work/lua/lua5.4-deb-multiarch.h"
	: >"$work/leveldb/port/port_config.h"
	mkdir -p "$work/expat"
	: >"$work/expat/expat_config.h"
	mkdir -p "$work/jansson"
	printf '#define %s 1\n' HAVE_STDINT_H HAVE_INTTYPES_H HAVE_SYS_TYPES_H HAVE_LOCALE_H >"$work/jansson/jansson_private_config.h"
	if [[ " ${programs[*]} " == *" libpng "* ]]; then
		mkdir -p "$work/libpng"
		cp "$(echo "$sources"/libpng1.6-*)"/scripts/pnglibconf.h.prebuilt "$work/libpng/pnglibconf.h"
	fi
	mkdir -p "$work/gperf"
	echo '#define HAVE_DYNAMIC_ARRAY 1' >"$work/gperf/config.h"
	keywords 1500 1 >"$work/gperf/train"
	keywords 1300 2 >"$work/gperf/other"
}

# keywords NUMBER SEED prints different random words, one in each line.
keywords() {
	awk -v n="$1" -v random="$2" '
		function below(m) { random = random * 16807 % 2147483647; return int(random / 8) % m }
		BEGIN {
			while (n > 0) {
				word = ""
				for (i = 4 + below(10); i > 0; i--) word = word sprintf("%c", 97 + below(26))
				if (!(word in seen)) { seen[word]; print word; n-- }
			}
		}'
}

# files PROGRAM prints the source files of a program, and flags NAME the flags they need.
files() {
	case $1 in
	lua) ls "$sources"/lua5.4-*/src/*.c | grep -v -e /luac.c -e /onelua.c -e /ltests.c ;;
	zstd | zstdmt) ls "$sources"/libzstd-*/lib/{common,compress,decompress}/*.c "$here/programs/$1.c" ;;
	re2) ls "$sources"/re2-*/re2/*.cc "$sources"/re2-*/util/{rune,strutil}.cc "$work"/re2tables/*.cc "$here/programs/re2.cc" ;;
	calc) echo "$here/programs/calc.c" ;;
	exceptions) echo "$here/programs/exceptions.cc" ;;
	virtual) echo "$here/programs/virtual.cc" ;;
	fmt) ls "$sources"/fmtlib-*/src/{format,os}.cc "$here/programs/fmt.cc" ;;
	tinyxml2) ls "$sources"/tinyxml2-*/tinyxml2.cpp "$here/programs/tinyxml2.cc" ;;
	cjson) ls "$sources"/cjson-*/cJSON.c "$here/programs/cjson.c" ;;
	expat) ls "$sources"/expat-*/expat/lib/xml{parse,role,tok}.c "$here/programs/expat.c"
		find "$sources"/expat-*/expat/lib/ -name 'random_dev_urandom.c' -o -name 'random_getrandom.c' ;;
	lz4) ls "$sources"/lz4-*/lib/lz4{,hc}.c "$here/programs/lz4.c" ;;
	brotli) ls "$sources"/brotli-*/c/{common,dec,enc}/*.c "$here/programs/brotli.c" ;;
	libyaml) ls "$sources"/libyaml-*/src/*.c "$here/programs/libyaml.c" ;;
	jansson) ls "$sources"/jansson-*/src/*.c "$here/programs/jansson.c" ;;
	yamlcpp) ls "$sources"/yaml-cpp-*/src/*.cpp "$here/programs/yamlcpp.cc" ;;
	libpng) ls "$sources"/libpng1.6-*/png*.c "$here/programs/libpng.c" | grep -v pngtest ;;
	mujs) ls "$sources"/mujs-*/*.c "$here/programs/mujs.c" | grep -v -e /main.c -e /one.c -e /pp.c ;;
	md4c) ls "$sources"/md4c-*/src/{md4c,md4c-html,entity}.c "$here/programs/md4c.c" ;;
	jsoncpp) ls "$sources"/libjsoncpp-*/src/lib_json/*.cpp "$here/programs/jsoncpp.cc" ;;
	cadical) ls "$sources"/cadical-*/src/*.cpp "$here/programs/cadical.cc" | grep -v -e /cadical.cpp -e /mobical.cpp ;;
	pugixml) ls "$sources"/pugixml-*/src/*.cpp "$here/programs/pugixml.cc" ;;
	gperf) ls "$sources"/gperf-*/src/*.cc "$sources"/gperf-*/lib/{hash,getline}.cc ;;
	nlohmann | httplib | cli11) echo "$here/programs/$1.cc" ;;
	leveldb) ls "$sources"/leveldb-*/{db,table,util,helpers/memenv}/*.cc "$here/programs/leveldb.cc" |
		grep -v -e _test -e testutil -e windows -e /db/leveldbutil -e /db/c.cc ;;
	esac
}

flags() {
	case $1 in
	lua) echo -DLUA_USE_POSIX -DLUA_COMPAT_5_3 -I"$work/lua" ;;
	zstd) echo -DZSTD_DISABLE_ASM -I"$(echo "$sources"/libzstd-*/lib)" ;;
	zstdmt) echo -DZSTD_DISABLE_ASM -DZSTD_MULTITHREAD -I"$(echo "$sources"/libzstd-*/lib)" ;;
	re2) echo -I"$(echo "$sources"/re2-*)" ;;
	fmt) echo -I"$(echo "$sources"/fmtlib-*/include)" ;;
	tinyxml2) echo -I"$(echo "$sources"/tinyxml2-*)" ;;
	cjson) echo -I"$(echo "$sources"/cjson-*)" ;;
	expat) echo -DXML_GE=1 -DXML_DTD=1 -DXML_NS=1 -DXML_CONTEXT_BYTES=1024 -DXML_DEV_URANDOM -DHAVE_GETRANDOM -I"$work/expat" -I"$(echo "$sources"/expat-*/expat/lib)" ;;
	lz4) echo -I"$(echo "$sources"/lz4-*/lib)" ;;
	brotli) echo -I"$(echo "$sources"/brotli-*/c/include)" ;;
	libyaml) echo -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 "-DYAML_VERSION_STRING=\"0.2.5\"" -I"$(echo "$sources"/libyaml-*/include)" ;;
	jansson) echo -DHAVE_CONFIG_H -I"$work/jansson" -I"$(echo "$sources"/jansson-*)/android" -I"$(echo "$sources"/jansson-*)/src" ;;
	yamlcpp) echo -include cstdint -I"$(echo "$sources"/yaml-cpp-*)/include" ;;
	libpng) echo -DPNG_INTEL_SSE_OPT=0 -I"$work/libpng" -I"$(echo "$sources"/libpng1.6-*)" ;;
	mujs) echo -I"$(echo "$sources"/mujs-*)" ;;
	nlohmann) echo -I"$(echo "$sources"/nlohmann-json3-*/include)" ;;
	httplib) echo -I"$(echo "$sources"/cpp-httplib-*)" ;;
	md4c) echo -I"$(echo "$sources"/md4c-*/src)" ;;
	jsoncpp) echo -I"$(echo "$sources"/libjsoncpp-*/include)" ;;
	cadical) echo -DNDEBUG -DNBUILD -I"$(echo "$sources"/cadical-*/src)" ;;
	pugixml) echo -I"$(echo "$sources"/pugixml-*/src)" ;;
	cli11) echo -I"$(echo "$sources"/cli11-*/include)" ;;
	gperf) echo -std=gnu++98 -I"$work/gperf" -I"$(echo "$sources"/gperf-*/lib)" ;;
	leveldb) echo -DLEVELDB_PLATFORM_POSIX=1 -DLEVELDB_IS_BIG_ENDIAN=0 -DHAVE_FDATASYNC=1 -DHAVE_O_CLOEXEC=1 -fno-rtti -fno-exceptions \
		-I"$work/leveldb" -I"$(echo "$sources"/leveldb-*)" -I"$(echo "$sources"/leveldb-*/include)" ;;
	esac
}

# compiler PROGRAM SUFFIX prints how the compiler is called: GCC of that suffix, or the clang of that name.
compiler() {
	local c="gcc${2#plain}" cxx="g++${2#plain}"
	case $2 in clang*) c=$2 cxx=${2/clang/clang++} ;; esac
	case $1 in lua | zstd | zstdmt | calc | cjson | expat | lz4 | brotli | libyaml | jansson | libpng | mujs | md4c) echo "$c" ;; *) echo "$cxx -std=c++17" ;; esac
}

# debug SUFFIX prints the flags for debug info: what profiles need, and valgrind can read.
debug() {
	case $1 in clang*) echo -gdwarf-4 -fdebug-info-for-profiling ;; *) echo -g ;; esac
}

# compile PROGRAM SUFFIX FLAGS... compiles into the folder $out.o.
compile() {
	local program=$1 cc debug
	cc=$(compiler "$1" "$2")
	debug=$(debug "$2")
	shift 2
	rm -rf "$out.o"
	mkdir "$out.o"
	files "$program" | xargs -P "${JOBS:-2}" -I{} sh -c '
		name=$(echo "$1" | tr / _)
		shift
		"$@" -c "$0" -o "$out.o/$name.o"' {} {} $cc "${OPT--O2}" $debug -w $(flags "$program") "$@"
}

# build PROGRAM SUFFIX OUT FLAGS... compiles and links.
build() {
	out=$3 compile "$1" "$2" "${@:4}" || return
	$(compiler "$1" "$2") "${OPT--O2}" -g -o "$3" "$3".o/*.o -lm -lpthread $([ "$1" != libpng ] || echo -lz)
}
export out

# input PROGRAM NAME prints the argument that has a program take its input train or other.
input() {
	case $1 in
	lua) echo "$here/programs/$2.lua" ;;
	gperf) echo "$work/gperf/$2" ;;
	*) echo "$2" ;;
	esac
}

# count PROGRAM BINARY INPUT [CALLGRIND] prints how many instructions of the binary itself run. The second thread of
# leveldb does more in some runs, so its number is the median of three.
count() {
	local runs=1 run
	[ "$1" != leveldb ] || runs=3
	for run in $(seq "$runs"); do
		counted "$@"
	done | sort -n | awk '{n[NR] = $1} END {printf "%d", n[int((NR + 1) / 2)]}'
}

# counted prints what count does, of one run.
counted() {
	local to=${4:-$work/counts}
	setarch -R valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$to" "$2" "$(input "$1" "$3")" >"$to.said"
	"$work/afdo" create --binary "$2" --profile "$to" --to samples -o - | awk -F: 'NF == 2 && !/->/ {n += $2} END {printf "%.0f\n", n}'
}

# mispredicted PROGRAM BINARY INPUT prints how many branches cachegrind's simple processor predicts wrongly, those of
# shared libraries included.
mispredicted() {
	setarch -R valgrind --tool=cachegrind --branch-sim=yes --cache-sim=no --cachegrind-out-file="$work/branches" "$2" "$(input "$1" "$3")" 2>&1 >/dev/null |
		awk '$2 == "Mispredicts:" {gsub(",", ""); print $3}'
}

# repeated PROGRAM BINARY prints the words of a command that runs the training input again and again.
repeated() { printf '%s\n' sh -c 'while :; do "$0" "$1" >/dev/null; done' "$2" "$(input "$1" train)"; }

# record PROGRAM BINARY OUT TIME RATE records the training input by the processor's clock.
record() {
	local command
	mapfile -t command < <(repeated "$1" "$2")
	"$work/afdo" record -e cpu-clock -F "$5" --duration "$4" -o "$3" -- "${command[@]}"
}
