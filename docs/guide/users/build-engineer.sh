#!/bin/sh
# The build engineer: a build whose every compile gets its part of a profile.
#
# It takes Go and GCC 12 or later. Run it anywhere in a clone; it writes to a temporary folder.
set -eu
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/afdo" ./cmd/afdo
cp docs/guide/autofdo/*.c docs/guide/autofdo/*.h "$work"
cd "$work"
PATH=$work:$PATH
AFDO_CACHE_DIR=$work/cache
export PATH AFDO_CACHE_DIR

# A profile as it comes out of production: here one of two functions, written by hand.
cat > prod.txt <<'END'
filenames = { "table.c", "words.c" }
summary = {
  total_count = 300, max_count = 200, max_fn_count = 1, num_counts = 2, num_functions = 2,
  num_detailed_entries = 0, detailed_entries = { }
}
"main":1(1:1:0) = { locations = { 1 = 100 } }
"table_new":0(2:1:0) = { locations = { 1 = 200 } }
END

# Once for a new profile: is it sound, and the form in which every lookup is short.
afdo check prod.txt
afdo convert prod.txt -o prod.v4c --index

# Each compile through the launcher. It writes the slice beside the object.
for source in words table; do
	afdo exec --profile prod.v4c -- gcc -O2 -c "$source.c" -o "$source.o"
	ls "$source.o.afdo"
done

# A second build finds everything as it is.
afdo exec -v --profile prod.v4c -- gcc -O2 -c words.c -o words.o

# The keys that a build cache may take for an input of each compile.
afdo fingerprint prod.v4c

# What became of the compiles.
afdo cache
