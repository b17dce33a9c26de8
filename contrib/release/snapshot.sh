#!/bin/sh
# Makes all that a release would have, without publishing any of it, in the folder dist: archives
# for six systems, the Debian package, checksums and, if syft is there, an SBOM of each archive.
# Then it looks at what came out. It needs goreleaser; buildah, if it is there, makes the container.
set -eu
cd "$(dirname "$0")/../.."
skip=sign
command -v syft > /dev/null || skip=sign,sbom
goreleaser release --snapshot --clean --skip="$skip"

cd dist
sha256sum --check --quiet SHA256SUMS
for system in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64; do
	archive=tar.gz
	[ "${system#windows}" = "$system" ] || archive=zip
	for name in afdo afdo-fetch-blob; do
		set -- "$name"_*_"$system.$archive"
		[ -e "$1" ] || { echo "no archive of $name for $system" >&2; exit 1; }
	done
done
for arch in amd64 arm64; do
	set -- afdo_*_"$arch.deb"
	[ -e "$1" ] || { echo "no Debian package for $arch" >&2; exit 1; }
done
[ "$(uname -sm)" = "Linux x86_64" ] || exit 0
rm -rf container
mkdir -p container/bin
tar -xzf afdo_*_linux_amd64.tar.gz -C container
tar -xzf afdo-fetch-blob_*_linux_amd64.tar.gz -C container afdo-fetch-blob
container/afdo version
container/afdo top ../testdata/shop.compact.afdo > /dev/null
mv container/afdo container/afdo-fetch container/afdo-fetch-blob container/bin
command -v buildah > /dev/null || exit 0
cp ../contrib/release/Containerfile container
buildah --storage-driver vfs bud --isolation chroot -t afdo container
