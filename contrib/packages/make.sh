#!/bin/sh
# Makes a source archive that has all modules that afdo needs, a Debian source package and a source
# RPM, in the folder OUT, afdo-source in the folder for temporary files if it is not set. With --try, it also builds both packages without network and runs
# what is in them. VERSION is the version, 0.1.0 if it is not set.
set -eu
cd "$(dirname "$0")/../.."
version=${VERSION:-0.1.0}
out=${OUT:-${TMPDIR:-/tmp}/afdo-source}
tree=$out/afdo-$version
rm -rf "$out"
mkdir -p "$out"
git archive --prefix="afdo-$version/" HEAD | tar -x -C "$out"
(cd "$tree" && go mod vendor)
date=$(git log -1 --format=%cI)
tar --sort=name --mtime="$date" --owner=0 --group=0 --numeric-owner -C "$out" -czf "$out/afdo_$version.orig.tar.gz" "afdo-$version"

cp -r contrib/packages/debian "$tree/debian"
cp contrib/debian/copyright "$tree/debian/copyright"
printf 'afdo (%s-1) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- The afdo maintainers <maintainers@go-afdo.example>  %s\n' "$version" "$(date -R -d "$date")" > "$tree/debian/changelog"
if command -v dpkg-source > /dev/null; then
	(cd "$out" && dpkg-source --build "afdo-$version")
else
	echo 'there is no dpkg-source: no Debian source package' >&2
fi
if command -v rpmbuild > /dev/null; then
	mkdir -p "$out/rpm/SOURCES"
	cp "$out/afdo_$version.orig.tar.gz" "$out/rpm/SOURCES"
	rpmbuild --define "_topdir $out/rpm" --define "afdo_version $version" -bs --nodeps contrib/packages/afdo.spec
else
	echo 'there is no rpmbuild: no source RPM' >&2
fi
[ "${1:-}" = --try ] || exit 0

offline='unshare --map-root-user --net' # a network without any interface that is up
(cd "$tree" && $offline dpkg-buildpackage -us -uc -b -d)
dpkg-deb -x "$out"/afdo_"$version"-1_*.deb "$out/deb"
"$out/deb/usr/bin/afdo" version | grep -F "afdo $version-1"
$offline rpmbuild --define "_topdir $out/rpm" --define "afdo_version $version" -bb --nodeps contrib/packages/afdo.spec
ls "$out"/rpm/RPMS/*/*.rpm
