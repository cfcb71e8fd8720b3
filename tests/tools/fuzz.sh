#!/usr/bin/env bash
# Runs every Fuzz function of the Go packages for a while, one after the other; stops at the first failure.
#
# usage: tests/tools/fuzz.sh TIME    such as 10m or 20s, for each target
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:?time for each target, such as 10m}
targets=0
for package in $(go list ./native/...); do
  for name in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    echo "[fuzz] $package $name for $time" >&2
    go test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "$time"
    targets=$((targets + 1))
  done
done
[ "$targets" -gt 0 ] || { echo "fuzz.sh: no targets found" >&2; exit 1; }
echo "fuzz: $targets targets, $time each, no failure"
