#!/usr/bin/env bash
# Lays out a Linux kernel by the kernel's own documentation (Documentation/dev-tools/propeller.rst),
# with afdo in place of create_llvm_prof, and boots it in QEMU before and after:
#
#	bench/kernel/run.sh SOURCE.tar.xz DIR
#
# SOURCE.tar.xz is of Debian's package linux-source, of Linux 6.13 or later. DIR must not exist. It
# needs clang 22, lld 22 and LLVM's tools of the same version, qemu-system-x86_64, cpio, bc, flex,
# bison, libelf-dev and a C compiler that links static programs. The kernel is built twice, each
# with about 16 minutes of processor time.
#
# QEMU interprets the kernel, so there is no processor that records branches: the plugin branches.c
# writes every 1009th stack of 32 taken branches, as "perf script -F ip,brstack" prints them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(realpath "$1") dir=$2
[ ! -e "$dir" ] || {
	echo "run.sh: $dir exists" >&2
	exit 1
}
mkdir -p "$dir/source"
cd "$dir"
(cd "$here/../.." && go build -o "$OLDPWD/afdo" ./cmd/afdo)
ln -s afdo create_llvm_prof
tar xf "$source" -C source --strip-components 1
cc -O2 -static -o init "$here/init.c"
cc -O2 -fPIC -shared -fvisibility=hidden -o branches.so "$here/branches.c"
mkdir -p root/dev && cp init root/
mknod root/dev/console c 5 1 || echo "run.sh: without root there is no /dev/console, so /init prints nothing" >&2
(cd root && find . | cpio -o -H newc) >initrd

# build OUT [VARIABLE=VALUE...] builds the kernel.
build() {
	local out=$PWD/$1
	shift
	make -s -C source LLVM=-22 O="$out" -j"$(nproc)" "$@" bzImage
}

# boot OUT [FLAG...] boots the kernel and fails unless its /init ran to the end.
boot() {
	local out=$1
	shift
	qemu-system-x86_64 -accel tcg -m 256 -nographic -no-reboot -kernel "$out/arch/x86/boot/bzImage" -initrd initrd \
		-append "console=ttyS0 rdinit=/init panic=-1" "$@" </dev/null >"$out.log"
	grep "init: done" "$out.log"
}

make -s -C source LLVM=-22 O="$PWD/plain" tinyconfig
cp plain/.config plain/tiny
(cd source && scripts/kconfig/merge_config.sh -m -O ../plain ../plain/tiny "$here/config" >/dev/null)
make -s -C source LLVM=-22 O="$PWD/plain" olddefconfig
build plain
boot plain -plugin ./branches.so,out=branches.txt,period=1009

./create_llvm_prof --binary=plain/vmlinux --profile=branches.txt --format=propeller --propeller_output_module_name \
	--out=kernel_cc_profile.txt --propeller_symorder=kernel_ld_profile.txt
./create_llvm_prof --binary=plain/vmlinux --profile=branches.txt --format=extbinary --out=kernel.afdo

# The recording is of a kernel without an AutoFDO profile, so its layout is for such a kernel.
cp -a plain laid
build laid CLANG_PROPELLER_PROFILE_PREFIX="$PWD/kernel"
boot laid
echo "functions in the list: $(grep -c '^f ' kernel_cc_profile.txt)"
echo "of them with cold parts of their own in the kernel: $(llvm-nm-22 laid/vmlinux | grep -c '\.cold$')"
