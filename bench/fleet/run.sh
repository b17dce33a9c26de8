#!/usr/bin/env bash
# What does it take to merge a fleet? Makes fleets of version 3, and merges them with "afdo merge" into one compact
# file, with garbage collection as it is and as GOGC would have it:
#
#	bench/fleet/run.sh [FILES...]
#
# FILES are numbers of files, 100 and 1,000 if there are none. BYTES is about how large each is, 200,000 unless it is
# set, SHAPES which programs there are, and PERCENT the values of GOGC. A line a merge: MB of the input, seconds of
# processor time and on the clock, MB of the input a second of each, and the most memory in MB. docs/guide/remote.md has the
# result for 100, 1,000 and 10,000 files.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sizes=("$@")
[ $# -gt 0 ] || sizes=(100 1000)
read -ra shapes <<<"${SHAPES-plain headers}"
read -ra percents <<<"${PERCENT-usual}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go build -C "$root" -o "$work/afdo" ./cmd/afdo
go build -C "$root/bench" -o "$work/" ./fleet ./spawn

printf '%s\t' shape files GOGC MB processor clock MB/s "MB/s, clock" memory result
echo
for shape in "${shapes[@]}"; do
	for files in "${sizes[@]}"; do
		mkdir "$work/in"
		"$work/fleet" "$work/in" "$files" "${BYTES:-200000}" "$shape"
		size=$(du -sb "$work/in" | cut -f1)
		for percent in "${percents[@]}"; do
			[ "$percent" = usual ] && unset GOGC || export GOGC=$percent
			"$work/spawn" "$work/afdo" merge --to v4c -o "$work/out" "$work/in" >"$work/cost"
			unset GOGC
			awk -F'[:,}]' -v shape="$shape" -v files="$files" -v percent="$percent" -v size="$size" \
				-v result="$(stat -c %s "$work/out")" -v OFS='\t' '{
					wall = $2 / 1e9; cpu = $4 / 1e9
					printf "%s\t%d\t%s\t%.0f\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t%.1f MB\n",
						shape, files, percent, size / 1e6, cpu, wall, size / 1e6 / cpu, size / 1e6 / wall, $6 / 1e6, result / 1e6
				}' "$work/cost"
		done
		rm -r "$work/in"
	done
done
