#!/usr/bin/env bash
# diff.sh BASE HEAD OUT: compares two profiles, writes the comparison to OUT as Markdown, and reports
# to the job whether they differ. A faulty profile fails the job.
set -euo pipefail
base=$1 head=$2 out=$3

differs=false
text=$(afdo diff --exit-code "$base" "$head") || {
	[ $? -eq 1 ] && [ -n "$text" ] || exit 1 # a fault has no text
	differs=true
}
{
	printf '### AutoFDO profile `%s`\n\n' "$(basename "$head")"
	printf '```\n%s\n```\n' "$text"
} >"$out"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out" >>"$GITHUB_STEP_SUMMARY"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "differs=$differs" >>"$GITHUB_OUTPUT"
