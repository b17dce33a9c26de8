#!/usr/bin/env bash
# What does Apache Beam add to the merge of a fleet? Makes fleets of version 3, and merges each with "afdo merge" and
# with "afdo-beam merge", whose runner is the embedded Prism:
#
#	bench/fleet/beam.sh [FILES...]
#
# FILES, BYTES and SHAPES are as run.sh beside it has them; FILES are 1 and 200 if there are none. A line a merge:
# seconds of processor time and the most memory in MB of each, and how many times as much Beam takes. With one file
# that is what it takes to start. docs/guide/remote.md has the result.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sizes=("$@")
[ $# -gt 0 ] || sizes=(1 200)
read -ra shapes <<<"${SHAPES-plain headers}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go build -C "$root" -o "$work/afdo" ./cmd/afdo
go build -C "$root/beam" -o "$work/afdo-beam" ./cmd/afdo-beam
go build -C "$root/bench" -o "$work/" ./fleet ./spawn

printf '%s\t' shape files MB "merge: processor" memory "beam: processor" memory "times: processor" memory
echo
for shape in "${shapes[@]}"; do
	for files in "${sizes[@]}"; do
		mkdir "$work/in"
		"$work/fleet" "$work/in" "$files" "${BYTES:-200000}" "$shape"
		"$work/spawn" "$work/afdo" merge --to v4 -o "$work/merged" "$work/in" >"$work/costs"
		"$work/spawn" "$work/afdo-beam" merge --input "$work/in/*" --output "$work/out" >>"$work/costs" 2>"$work/log" || {
			cat "$work/log" >&2
			exit 1
		}
		cmp "$work/merged" "$work/out"
		awk -F'[:,}]' -v shape="$shape" -v files="$files" -v size="$(du -sb "$work/in" | cut -f1)" '
			{ cpu[NR] = $4 / 1e9; memory[NR] = $6 / 1e6 }
			END {
				printf "%s\t%d\t%.0f\t%.2f\t%.1f\t%.2f\t%.1f\t%.1f\t%.1f\n", shape, files, size / 1e6,
					cpu[1], memory[1], cpu[2], memory[2], cpu[2] / cpu[1], memory[2] / memory[1]
			}' "$work/costs"
		rm -r "$work/in"
	done
done
