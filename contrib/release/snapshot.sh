#!/bin/sh
# Makes all that a release would have, without publishing any of it, in the folder dist: archives
# for six systems, Debian packages, an SBOM of each archive and checksums. Then it looks at what came
# out: it runs the programs, the commands of docs/guide/install.md and the action. If buildah is there, it
# also builds and runs the two containers, without root.
#
# goreleaser is built if it is not there. Everything else comes with Go.
set -eu
cd "$(dirname "$0")/../.."
goreleaser=github.com/goreleaser/goreleaser/v2@v2.14.3
snapshot='release --snapshot --clean --skip=sign'
if command -v goreleaser > /dev/null; then goreleaser $snapshot; else go run $goreleaser $snapshot; fi

there() { [ -e "$1" ] || { echo "there is no $1" >&2; exit 1; }; }

cd dist
for system in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64; do
	archive=tar.gz
	[ "${system#windows}" = "$system" ] || archive=zip
	for name in afdo afdo-fetch-blob; do
		there "$name"_*_"$system.$archive"
		there "$name"_*_"$system.$archive.cdx.json"
	done
done
for arch in amd64 arm64; do
	there afdo_*_"$arch.deb"
done
for made in *.tar.gz *.zip *.deb *.cdx.json; do
	grep -qF "  $made" SHA256SUMS || { echo "SHA256SUMS does not have $made" >&2; exit 1; }
done
sha256sum --check --quiet SHA256SUMS
AFDO_SNAPSHOT=$PWD go -C ../contrib/release test -count=1 -timeout 30m ./...
[ "$(uname -sm)" = "Linux x86_64" ] || exit 0

rm -rf container
mkdir -p container/bin
tar -xzf afdo_*_linux_amd64.tar.gz -C container/bin afdo afdo-exec afdo-fetch
tar -xzf afdo-fetch-blob_*_linux_amd64.tar.gz -C container/bin afdo-fetch-blob
container/bin/afdo version
command -v buildah > /dev/null || { echo 'there is no buildah: the containers are not built'; exit 0; }

export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

# standing_in makes an image of this machine's Go and of busybox, for where no registry of images can
# be reached.
standing_in() {
	rm -rf base
	mkdir -p base/bin base/tmp base/usr/local base/etc/ssl/certs
	cp "$(command -v busybox)" base/bin
	ln -s busybox base/bin/sh
	cp -r "$(go env GOROOT)" base/usr/local/go
	printf 'FROM scratch\nCOPY . /\nENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOTOOLCHAIN=local\n' > base.txt
	buildah bud -q -f base.txt -t docker.io/library/golang:1.26 base
	rm -rf base base.txt
}

# tried runs a container as its user would, who has a profile in the folder /work.
tried() {
	container=$(buildah from --pull-never "$1")
	buildah copy -q "$container" ../testdata/shop.compact.afdo /work
	buildah run "$container" -- /usr/bin/afdo top shop.compact.afdo | grep -q 'shop::Cart::total' || { echo "$1 does not list functions" >&2; exit 1; }
	buildah run "$container" -- /usr/bin/afdo version
	buildah rm "$container" > /dev/null
}

cp ../contrib/release/Containerfile container
buildah bud -q -t afdo container
tried afdo
buildah pull -q docker.io/library/golang:1.26 || standing_in
go -C .. mod download
go -C ../remote/blob mod download
buildah bud -q --pull-never --volume "$(go env GOMODCACHE):/go/pkg/mod:ro" -t afdo-built ..
tried afdo-built
