#!/bin/sh
# The performance engineer: what is in a profile, and what is different in another.
#
# It takes Go. Run it anywhere in a clone; it writes to a temporary folder.
set -eu
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/afdo" ./cmd/afdo
cp testdata/shop.compact.afdo "$work/monday.afdo"
cd "$work"
PATH=$work:$PATH

# What is it, and where does the time go?
afdo show monday.afdo
afdo units monday.afdo --sort samples
afdo top monday.afdo --number 5

# One file, line by line, and one function with what it calls.
afdo annotate monday.afdo --unit cart.cc
afdo lookup monday.afdo --unit cart.cc --symbol _ZN4shop4Cart5clearEv

# Tuesday is Monday without a function, here made by hand.
afdo convert monday.afdo -o tuesday.v4c --strip-names NoDiscount
afdo diff monday.afdo tuesday.v4c --number 3

# The week, with what is older counting less.
afdo merge -o week.v4c tuesday.v4c monday.afdo=1/2
afdo top week.v4c --number 1

# To look at: a page of HTML, and a file for go tool pprof.
afdo report week.v4c -o week.html
afdo pprof week.v4c -o week.pb.gz
ls week.html week.pb.gz
