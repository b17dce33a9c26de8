#!/bin/sh
# Makes the binary forms of shop.txt, a small profile written by hand.
set -e
cd "$(dirname "$0")"
afdo() { go run ../cmd/afdo "$@"; }
afdo convert shop.txt --to v4 -o shop.afdo
afdo convert shop.txt --to v4c -o shop.compact.afdo
afdo convert shop.txt --to v3 -o shop.v3.afdo
afdo convert shop.txt --to v2 -o shop.v2.afdo
