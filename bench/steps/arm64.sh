#!/usr/bin/env bash
# Does record --event steps work on arm64? Boots Linux for arm64 in QEMU, runs the tests of the simulation and of the
# tracer there, and records programs. Then it compares their profiles with the exact ones:
#
#	bench/steps/arm64.sh SOURCES PACKAGES [PROGRAM...]
#
# SOURCES is a folder with unpacked Debian source packages, as for run.sh. The programs are those of bench/pays, by
# default lua, brotli and leveldb. PACKAGES is a folder with Debian's packages linux-image-*-arm64 and busybox-static for
# arm64, unpacked, not installed:
#
#	dpkg --add-architecture arm64 && apt-get update
#	apt-get download linux-image-6.1.0-56-cloud-arm64:arm64 busybox-static:arm64
#	for deb in *.deb; do dpkg -x "$deb" PACKAGES; done
#	dpkg --remove-architecture arm64 && apt-get update
#
# It needs the packages qemu-system-arm, qemu-user, cpio, g++-aarch64-linux-gnu and g++, and root for a device file.
# These variables select what is measured:
#
#	CPUS          processors of the machine (cortex-a72 max,pauth-impdef=on)
#	OVERHEAD      value of --overhead (20%)
#	SECONDS_EACH  length of a recording by steps (60); one by cpu-clock takes a sixth of it
#	KEEP          folder for what is made
#
# The exact counts come from the plugin exact.c of QEMU's user mode, for which the programs have fixed addresses. The
# emulated processor is slow: a burst took up to 80 ms, so do not compare times with those of other machines. The test
# TestStopsAreShort, which measures times, is left out. The programs sign return addresses, which the processor max
# checks. It uses QEMU's own cipher for that (pauth-impdef), which is faster than the standard one.
set -euo pipefail
shopt -s inherit_errexit
[ $# -ge 2 ] || { echo "usage: $0 SOURCES PACKAGES [PROGRAM...]; the script's first lines explain it" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../pays" && pwd)
steps=$here/../steps root=$here/../..
sources=$(cd "$1" && pwd) packages=$(cd "$2" && pwd)
shift 2
programs=("$@")
[ $# -gt 0 ] || programs=(lua brotli leveldb)
read -ra cpus <<<"${CPUS-cortex-a72 max,pauth-impdef=on}"
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{shim,machine/{bin,programs}}
export CGO_ENABLED=0

. "$here/programs.sh"
prepare
eval "pays_$(declare -f compiler)"
compiler() { echo "aarch64-linux-gnu-$(pays_compiler "$1" plain) -no-pie -mbranch-protection=standard"; }
libraries=/usr/aarch64-linux-gnu

# gcc for the tests. On this machine, it compiles for both processors, and keeps the programs for arm64 by a hash of
# source and flags. In the machine, it looks there.
cat >"$work/shim/gcc" <<'END'
#!/bin/sh
flags=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	*.c) source=$1 ;;
	*) flags="$flags $1" ;;
	esac
	shift
done
key=$( (echo "$flags"; cat "$source") | md5sum | cut -c1-32)
if [ -z "$STORE" ]; then
	cp "/work/programs/$key" "$out"
	exit
fi
[ -e "$STORE/$key" ] || aarch64-linux-gnu-gcc -o "$STORE/$key" "$source" $flags || exit
case "$flags" in
*-march=armv* | *-mbranch-protection*) cp "$STORE/$key" "$out" ;;
*) exec "$NATIVE" -o "$out" "$source" $flags ;;
esac
END
chmod +x "$work/shim/gcc"

# tests builds the tests for the machine, and what they compile there, by running them here.
tests() {
	export STORE=$work/machine/programs AFDO_SWEEP=1 NATIVE
	NATIVE=$(command -v gcc)
	local path=$work/shim:$PATH package=./record/internal/simulate/arm64
	cd "$root"
	AFDO_SWEEP='' PATH=$path go test -count=1 ./record/internal/steps
	PATH=$path go test -count=1 -run 'PageFaults|NewMemory|SystemCalls' ./record/internal/steps
	for name in input/record/internal/steps input/record/internal/simulate/arm64 input/record; do
		GOARCH=arm64 go test -c -o "$work/machine/$(basename "$name").test" "./$name"
	done
	# QEMU's user mode traces no processes, so this test compiles its programs and is skipped.
	(cd "$package" && PATH=$path qemu-aarch64 "$work/machine/arm64.test" -test.run TestStep)
	unset STORE AFDO_SWEEP
	cp "$work/shim/gcc" "$work/machine/bin/"
	cp input/record/internal/simulate/arm64/testdata/words.txt "$work/machine/"
}

# What the machine does: the tests, and then the recordings.
machineScript() {
	cat <<'END'
mkdir -p /work/testdata /usr/include/aarch64-linux-gnu/sys /usr/lib/aarch64-linux-gnu
mv /work/words.txt /work/testdata/
touch /usr/include/aarch64-linux-gnu/sys/rseq.h /usr/lib/aarch64-linux-gnu/crt1.o # that tests look for
cp /bin/busybox /bin/ld
cd /work
uname -srm
./arm64.test -test.v
./steps.test -test.v -test.skip StopsAreShort
AFDO_SWEEP=1 ./steps.test -test.v -test.run 'PageFaults|NewMemory|SystemCalls'
./record.test -test.v -test.run 'StepsAreEnded|StepsOutputFails|BestEvent'
END
	for program in "${programs[@]}"; do
		local input=train
		[ "$program" != lua ] || input=train.lua
		local seconds=${SECONDS_EACH:-60} event
		for event in "steps --overhead ${OVERHEAD:-20%}" cpu-clock; do
			[ "$event" != cpu-clock ] || seconds=$((seconds / 6))
			echo "end=\$((\$(date +%s) + $seconds))"
			echo "/work/afdo record --event $event -o /out/$program.${event%% *}.data -- sh -c 'while [ \$(date +%s) -lt \"\$0\" ]; do /work/$program.arm64 $input >/dev/null; done' \$end"
		done
	done
}

# initrd makes the machine's memory disk.
initrd() {
	local disk=$work/disk modules=$packages/lib/modules/*/kernel/drivers
	rm -rf "$disk"
	mkdir -p "$disk"/{bin,lib,proc,sys,tmp,out,dev,modules}
	cp "$packages/bin/busybox" "$disk/bin/"
	cp $modules/virtio/virtio{,_ring,_mmio}.ko $modules/block/virtio_blk.ko "$disk/modules/"
	cp "$libraries"/lib/{ld-linux-aarch64.so.1,libc.so.6,libm.so.6,libstdc++.so.6,libgcc_s.so.1} "$disk/lib/"
	cp -r "$work/machine" "$disk/work"
	mknod "$disk/dev/console" c 5 1
	cat >"$disk/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/work/bin:/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
for module in virtio_ring virtio virtio_mmio virtio_blk; do insmod /modules/$module.ko; done
sh /work/run.sh
tar -C /out -cf /dev/vda .
poweroff -f
END
	chmod +x "$disk/init"
	(cd "$disk" && find . | cpio -o -H newc --quiet) >"$work/initrd"
}

# folder CPU prints the name of the folder for what a machine leaves.
folder() { echo "machine.${1//[^a-z0-9]/-}"; }

# boot CPU boots the machine. What it leaves on its disk is in the folder of the processor.
boot() {
	local out=$work/$(folder "$1") kernel
	kernel=$(ls "$packages"/boot/vmlinuz-* | tail -1)
	mkdir -p "$out"
	truncate -s 1G "$out/disk.tar"
	qemu-system-aarch64 -M virt -cpu "$1" -smp 2 -m 2048 -nographic -no-reboot -kernel "$kernel" -initrd "$work/initrd" \
		-append "console=ttyAMA0 rdinit=/init quiet panic=-1" -device virtio-blk-device,drive=disk \
		-drive "file=$out/disk.tar,if=none,id=disk,format=raw" </dev/null | tee "$out/console" |
		grep --line-buffered -E '^--- |^Linux|^(PASS|FAIL|panic)|^afdo: |steps_linux_test.go.*(samples|map)' >&2 || true
	sed -i 's/\r$//' "$out/console"
	tar -C "$out" -xf "$out/disk.tar"
	rm "$out/disk.tar"
	! grep -E '^ *--- FAIL|^FAIL|^panic' "$out/console" || { echo "arm64.sh: tests have failed on $1: $out/console" >&2; failed=1; }
}

# exact PROGRAM makes its exact profile.
exact() {
	qemu-aarch64 -L "$libraries" -plugin "$work/exact.so,base=0x400000,size=0x1000000,out=$work/$1.exact.txt" "$work/$1.arm64" "$(input "$1" train)" >/dev/null
	"$work/afdo" create --binary "$work/$1.arm64" --profile "$work/$1.exact.txt" -o "$work/$1.exact.afdo" 2>"$work/$1.exact.create"
}

failed=0
tests
go build -C "$root" -o "$work/afdo" ./cmd/afdo
GOARCH=arm64 go build -C "$root" -o "$work/machine/afdo" ./cmd/afdo
cc -O2 -fPIC -shared -fvisibility=hidden -o "$work/exact.so" "$steps/exact.c"
cp "$here/programs/train.lua" "$work/machine/"
for program in "${programs[@]}"; do
	build "$program" plain "$work/$program.arm64"
	cp "$work/$program.arm64" "$work/machine/"
	exact "$program"
done
machineScript >"$work/machine/run.sh"
initrd
for cpu in "${cpus[@]}"; do boot "$cpu"; done

printf '\n| program | processor | event | samples | similarity |\n|---|---|---|--:|--:|\n'
for program in "${programs[@]}"; do
	for cpu in "${cpus[@]}"; do
		for event in steps cpu-clock; do
			recording=$work/$(folder "$cpu")/$program.$event
			"$work/afdo" create --allow-poor --binary "$work/$program.arm64" --profile "$recording.data" -o "$recording.afdo" 2>"$recording.create"
			samples=$(sed -n "s/^afdo: \([0-9,]*\) samples\? of .*\/$program\.$event\.data$/\1/p" "$work/$(folder "$cpu")/console")
			similarity=$("$work/afdo" diff "$work/$program.exact.afdo" "$recording.afdo" | awk '/Similarity/ {printf "%.3f", $2}' || true)
			echo "| $program | $cpu | $event | $samples | $similarity |"
		done
	done
done
exit "$failed"
