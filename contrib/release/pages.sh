#!/bin/sh
# Makes what a release has beside the programs: manual pages and completions, and the program that
# writes the SBOMs, in the folder .release, as .goreleaser.yaml wants them.
set -eu
cd "$(dirname "$0")/../.."
rm -rf .release
mkdir -p .release/completion .release/deb
go build -o .release/afdo ./cmd/afdo
.release/afdo man .release/man
for shell in bash zsh fish powershell; do
	.release/afdo completion "$shell" > ".release/completion/afdo.$shell"
done
rm .release/afdo
go build -C contrib/release -o ../../.release/sbom ./sbom
cp contrib/release/afdo-fetch.1 .release/man
for page in .release/man/*.1; do # Debian's policy: compressed, without a time
	gzip -9nc "$page" > ".release/deb/${page##*/}.gz"
done
