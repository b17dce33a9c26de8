#!/usr/bin/env bash
# What does GCC find? Compiles programs with profiles of themselves, in the sources that were profiled, and prints how
# much of the counts GCC 16 has found a statement for, by what it says itself:
#
#	bench/pays/found.sh SOURCES [PROGRAM...]
#
# SOURCES is as bench/pays/run.sh has it. COMPILER is the suffix of the compiler, by default -16, OPT the level that
# the program is built with, MOST how many of the largest counts to show that were not found, KEEP a folder for what is
# built, and what is there is not built again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
sources=$(cd "$1" && pwd)
shift
programs=("$@")
[ $# -gt 0 ] || programs=(lua zstd re2 fmt leveldb calc)
suffix=${COMPILER--16}
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT

go build -C "$root" -o "$work/afdo" ./cmd/afdo
go build -C "$root/bench" -o "$work/pays" ./pays

. "$here/programs.sh"
prepare

for program in "${programs[@]}"; do
	base=$work/$program$suffix
	[ -e "$base" ] || build "$program" "$suffix" "$base"
	[ -s "$base.train" ] || count "$program" "$base" train "$base.train" >/dev/null
	"$work/afdo" create --binary "$base" --profile "$base.train" --to v3 -o "$base.found.afdo"
	# With -flto the compile ends soon after the profile was read.
	(cd "$work" && out=$base.found compile "$program" "$suffix" -flto -S -fauto-profile="$base.found.afdo" -fdump-ipa-afdo_offline-all)
	echo "$program"
	"$work/pays" found "${MOST-10}" "$base.found.afdo" "$base".found.o/*.afdo_offline
done
