#!/usr/bin/env bash
# Measures what slices cost a build with CMake and Ninja: the time of the processor, user and system,
# of all processes together, and as a ratio to the build without a profile.
#
#   bench/build/run.sh SOURCES PROFILE.v4 CHANGED [OBJECTS...]
#
# SOURCES is a project for CMake, PROFILE.v4 has an index and covers it, and CHANGED are paths, with
# commas between them, of units that a refresh of the profile changes. With OBJECTS, only these are
# built. The environment CMAKE_FLAGS has more flags for CMake, and FORMAT is the format that the
# compiler reads: v2 if it is not set, v3 for GCC 16.
set -euo pipefail
sources=$(realpath "$1") profile=$(realpath "$2") changed=$3
shift 3
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/afdo" ./cmd/afdo
go -C bench build -o "$work/refresh" ./build
"$work/refresh" "$profile" "$work/new.v4" ${changed//,/ }
cp "$profile" "$work/prof.v4"
"$work/afdo" convert "$profile" --to "${FORMAT:-v2}" -o "$work/whole.afdo" 2>/dev/null
"$work/afdo" convert "$work/new.v4" --to "${FORMAT:-v2}" -o "$work/new.afdo" 2>/dev/null
export AFDO_CACHE_DIR=$work/cache CCACHE_DIR=$work/ccache CCACHE_NOCOMPRESS=1

cp -r "$sources" "$work/sources"
sources=$work/sources

configure() { # folder launcher flags
	# shellcheck disable=SC2086
	cmake -G Ninja -S "$sources" -B "$work/$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER="$2" -DCMAKE_C_COMPILER_LAUNCHER="$2" \
		-DCMAKE_CXX_FLAGS="$3" -DCMAKE_C_FLAGS="$3" ${CMAKE_FLAGS:-} >/dev/null
}

base=
build() { # name folder objects...: everything anew
	local name=$1 folder=$work/$2 before after
	shift 2
	find "$folder" -name '*.o' -delete
	before=$(ticks)
	ninja -C "$folder" "$@" >"$work/log" 2>&1 || {
		tail -n 20 "$work/log" >&2
		exit 1
	}
	after=$(ticks)
	awk -v name="$name" -v took=$((after - before)) -v base="${base:-$((after - before))}" -v hz="$(getconf CLK_TCK)" \
		'BEGIN { printf "%-40s %7.2f s %6.2f\n", name, took / hz, took / base }'
	[ -n "$base" ] || base=$((after - before))
}

# ticks prints the time that finished children of this shell have taken.
ticks() { awk '{ print $16 + $17 }' "/proc/$$/stat"; }

# What remains without the launcher's own work: something that gives each compile the slice it had.
cat >"$work/give-slice" <<'END'
#!/bin/sh
object=
previous=
for word; do
	[ "$previous" = -o ] && object=$word
	previous=$word
done
[ -f "../exec/$object.afdo" ] && exec "$@" "-fauto-profile=../exec/$object.afdo"
exec "$@"
END
chmod +x "$work/give-slice"

configure none "" ""
configure given "$work/give-slice" ""
configure whole "" "-fauto-profile=$work/whole.afdo"
configure exec "$work/afdo;exec;--profile;$work/prof.v4;--" ""
build 'no profile' none "$@"
build 'the whole profile' whole "$@"
build 'afdo exec, cold' exec "$@"
build 'the slices, without the launcher' given "$@"
build 'afdo exec, warm' exec "$@"
cp "$work/new.v4" "$work/prof.v4"
build 'afdo exec, after a refresh' exec "$@"

command -v ccache >/dev/null || exit 0
cp "$profile" "$work/prof.v4"
configure ccnone "ccache" ""
configure ccwhole "ccache" "-fauto-profile=$work/whole.afdo"
configure ccexec "$work/afdo;exec;--profile;$work/prof.v4;--;ccache" ""
build 'ccache, no profile, cold' ccnone "$@"
build 'ccache, the whole profile, cold' ccwhole "$@"
cp "$work/new.afdo" "$work/whole.afdo"
build 'ccache, the whole profile, refresh' ccwhole "$@"
build 'afdo exec and ccache, cold' ccexec "$@"
build 'afdo exec and ccache, warm' ccexec "$@"
# A fresh checkout has the same files with other times.
for _ in 1 2 3; do
	find "$sources" -type f -exec touch {} +
	build 'ccache, no profile, a fresh checkout' ccnone "$@"
	find "$sources" -type f -exec touch {} +
	rm -f $(find "$work/ccexec" -name '*.o.afdo')
	build 'afdo exec and ccache, a fresh checkout' ccexec "$@"
done
ccache -z >/dev/null
cp "$work/new.v4" "$work/prof.v4"
build 'afdo exec and ccache, after a refresh' ccexec "$@"
ccache -s | grep -iE 'hits|misses' || true
