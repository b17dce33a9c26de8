#!/usr/bin/env bash
# diff.sh BASE HEAD OUT: compares two profiles, writes the comparison to OUT as Markdown, and tells
# the job whether they differ. What is wrong with a profile fails the job.
set -euo pipefail
base=$1 head=$2 out=$3

text=$(afdo diff "$base" "$head")
differs=true
case $text in
*'The profiles say the same.'*) differs=false ;;
esac
{
	printf '### AutoFDO profile `%s`\n\n' "$(basename "$head")"
	printf '```\n%s\n```\n' "$text"
} >"$out"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out" >>"$GITHUB_STEP_SUMMARY"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "differs=$differs" >>"$GITHUB_OUTPUT"
