#!/usr/bin/env bash
# Runs the fuzz targets of the whole tree, one after the other, and prints a line
# for each: executions, size of the corpus, what was found.
#
#   fuzz/run.sh TIME [TARGET...]
#
# TIME is what "go test -fuzztime" takes, such as 10m or 100000x. Without
# TARGETs it is all of them. PARALLEL says how many processes work on one, 1 if
# not set. The status is 1 if any target failed. An input that makes one fail is
# written below testdata/fuzz of its package: commit it with the fix.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# = 0 ]; then
	echo "usage: fuzz/run.sh TIME [TARGET...]" >&2
	exit 2
fi
time=$1
shift
parallel=${PARALLEL:-1}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# targets prints package and name of each fuzz target.
targets() {
	grep -rHoE --include='*_test.go' '^func Fuzz[[:alnum:]_]*' . |
		sed -E 's|^(.*)/[^/]*:func (.*)$|\1 \2|' | sort
}

wanted() { # target
	[ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $1 "* ]]
}

# run_target prints the line of one target. A run that its time limit ends may
# report just that as a failure (go.dev/issue/75804): what counts is a failing input.
run_target() { # package target
	local status=0 outcome=ok
	go test -run "^$2\$" -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 100x -parallel "$parallel" "$1" >"$log" 2>&1 || status=$?
	if [ "$status" != 0 ]; then
		if grep -q 'Failing input written to\|^ *--- FAIL: .*/' "$log" || ! grep -q 'context deadline exceeded' "$log"; then
			outcome=FAILED
		fi
	fi
	local last
	last=$(grep -E '^fuzz: elapsed: .*execs: ' "$log" | tail -n 1 || true)
	local execs=${last#*execs: } corpus=${last##*(total: }
	printf '%-17s %-28s %12s executions %8s inputs  %s\n' "$1" "$2" "${execs%% *}" "${corpus%)*}" "$outcome"
	if [ "$outcome" = FAILED ]; then
		sed 's/^/    /' "$log"
		return 1
	fi
}

only=("$@")
failed=0
while read -r package target; do
	if wanted "$target"; then
		run_target "$package" "$target" </dev/null || failed=1
	fi
done < <(targets)
exit "$failed"
