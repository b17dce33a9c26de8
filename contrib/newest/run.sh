#!/usr/bin/env bash
# Runs the tests that need compilers against the newest compilers that Debian has: gcc-snapshot and rustc of sid, and the
# latest clang of experimental.
#
#	contrib/newest/run.sh DIR [go test arguments...]
#
# It unpacks the compilers into DIR, unless they are there, for which it needs 3 GB, apt-get, dpkg-deb, patchelf and a C
# compiler, but not root. DIR/bin has them under the names that the tests ask for: gcc-16 and g++-16 are GCC's snapshot,
# and clang-22, llvm-*-22 and ld.lld-22 the latest clang. Programs are linked with the libraries of this machine. A test
# that fails here shows what the next release of a compiler changes, or what a test takes for granted of its version.
# Compilers that the mirror lacks are left out, and a line says so. A run without arguments takes half an hour.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
triplet=$(uname -m)-linux-gnu
private=$dir/usr/lib/private

# fetch PACKAGE... downloads and unpacks packages.
fetch() {
	mkdir -p "$dir/packages"
	(cd "$dir/packages" && "${apt[@]}" download "$@")
	for package in "$dir"/packages/*.deb; do
		# Of GCC's snapshot, only C and C++ are needed.
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$dir" --wildcards --wildcards-match-slash \
			--exclude='*/share/*' --exclude='*accel*' --exclude='*/32/*' --exclude='*/x32/*' --exclude='*/libx32/*' --exclude='*/lib32/*' \
			--exclude='*/libexec/*/'{gnat1,gm21,f951,go1,d21,rust1,crab1,cobol1,a681,gnat1why,g++-mapper-server} \
			--exclude='*/adalib/*' --exclude='*/adainclude/*' --exclude='*/m2/*' --exclude='*libgphobos*' --exclude='*libgo.*' --exclude='*/go/*'
		rm "$package"
	done
}

# adopt FILE... lets programs run with the C library that they were linked with.
adopt() {
	for file; do
		if [ -f "$file" ] && [ ! -L "$file" ] && patchelf --print-interpreter "$file" >/dev/null 2>&1; then
			patchelf --set-interpreter "$private/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$private" "$file"
		fi
	done
}

# name FROM TO gives a program its name in DIR/bin. It starts it by a script, because compilers look beside themselves.
name() {
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$1" >"$dir/bin/$2"
	chmod +x "$dir/bin/$2"
}

unpack() {
	mkdir -p "$dir"/{bin,apt,lists/partial,cache/archives/partial}
	touch "$dir/status"
	printf 'deb http://deb.debian.org/debian %s main\n' sid experimental >"$dir/apt/newest.list"
	options=(-o APT::Sandbox::User=root -o Acquire::Check-Valid-Until=false -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$dir/apt"
		-o "Dir::State::Lists=$dir/lists" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache")
	apt=(apt-get -qq "${options[@]}")
	"${apt[@]}" update
	clang=$(cached pkgnames clang- | sed -n 's/^clang-\([0-9]*\)$/\1/p' | sort -n | tail -1)
	fetch libc6 libgcc-s1 libstdc++6 libgmp10 libisl23 libmpc3 libmpfr6 libzstd1 zlib1g binutils-x86-64-linux-gnu libbinutils libctf0 libctf-nobfd0 libsframe3 libjansson4 \
		libedit2 libffi8 liblzma5 libxml2-16 libz3-4 libtinfo6 libbsd0 libmd0
	mv "$dir/usr/lib/$triplet" "$private"
	for package in gcc-snapshot "clang-$clang libclang-cpp$clang libllvm$clang llvm-$clang llvm-$clang-linker-tools lld-$clang libclang-common-$clang-dev" "rustc libstd-rust-dev $(rust)"; do
		# Words of the list are packages.
		# shellcheck disable=SC2086
		fetch $package || echo "newest: cannot be had, and is left out: $package" >&2
	done
	[ ! -d "$dir/usr/lib/$triplet" ] || cp -al "$dir/usr/lib/$triplet/." "$private/"
	settle
	rm -rf "$dir"/{lists,cache,packages}
}

# cached asks about the packages that there are.
cached() { apt-cache "${options[@]}" "$@"; }

# rust prints the name of the package with rustc's library, which has its version.
rust() {
	cached depends libstd-rust-dev | sed -n 's/.*Depends: \(libstd-rust-[0-9.]*\)$/\1/p' | head -1
}

# settle makes the compilers usable where they are.
settle() {
	local gcc=$dir/usr/lib/gcc-snapshot own
	own=$(echo "$gcc"/libexec/gcc/"$triplet"/*)
	for library in "$private"/lib{LLVM,clang-cpp}.so.*; do
		[ ! -f "$library" ] || patchelf --force-rpath --set-rpath "$private" "$library"
	done
	find "$dir/usr/bin" "$gcc/bin" "$own" "$dir"/usr/lib/llvm-*/bin -type f 2>/dev/null | while read -r file; do adopt "$file"; done
	if [ -x "$gcc/bin/gcc" ]; then
		for program in as ld; do ln -sf "$dir/usr/bin/$triplet-$program" "$own/$program"; done
		for tool in gcc g++ cpp; do name "$gcc/bin/$tool" "$tool-16"; done
		rm -f "$gcc"/lib/libstdc++.so
		printf 'GROUP(%s)\n' "$(realpath "$(cc -print-file-name=libstdc++.so.6)")" >"$gcc/lib/libstdc++.so"
	fi
	for tool in "$dir"/usr/lib/llvm-*/bin/*; do
		[ ! -e "$tool" ] || name "$tool" "$(basename "$tool")-22"
	done
	[ ! -x "$dir/usr/bin/rustc" ] || name "$dir/usr/bin/rustc" rustc
	touch "$dir/done"
}

[ -e "$dir/done" ] || unpack
for tool in gcc-16 clang-22 rustc; do
	[ ! -x "$dir/bin/$tool" ] || "$dir/bin/$tool" --version | head -1
done
[ $# -gt 0 ] || set -- ./produce/create ./produce/rebase ./compile/... ./internal/bbmap ./internal/bitcode ./internal/opcode ./format/...
cd "$root"
PATH=$dir/bin:$PATH AFDO_SWEEP=1 exec go test "$@"
