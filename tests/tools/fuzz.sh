#!/usr/bin/env bash
# Runs every Fuzz function of the Go packages for a while, one after the other; stops at the first failure.
#
# usage: tests/tools/fuzz.sh TIME    such as 10m or 20s, for each target
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:?time for each target, such as 10m}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# When its time runs out at the wrong moment, go test fails with just "context deadline exceeded" (golang/go issue 75804, until Go 1.27).
# A target that fails, hangs or panics says more, and leaves the input.
fuzz() {
  local status=0
  go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$time" -timeout 0 2>&1 | tee "$log" || status=$?
  [ "$status" -eq 0 ] || only_out_of_time "$2"
}

only_out_of_time() {
  local said
  said=$(grep -vE '^(fuzz: |FAIL|exit status)' "$log" | tr -s '[:space:]' ' ')
  [[ $said =~ ^"--- FAIL: $1 "\([0-9.]+s\)" context deadline exceeded "$ ]] || return 1
  echo "[fuzz] $1 ran out of time, no failure" >&2
}

targets=0
for package in $(go list ./native/...); do
  for name in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    echo "[fuzz] $package $name for $time" >&2
    fuzz "$package" "$name"
    targets=$((targets + 1))
  done
done
[ "$targets" -gt 0 ] || { echo "fuzz.sh: no targets found" >&2; exit 1; }
echo "fuzz: $targets targets, $time each, no failure"
