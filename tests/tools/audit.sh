#!/usr/bin/env bash
# Checks what is built into the jar: known vulnerabilities of the Go modules, their checksums, and that the jar needs and carries no
# Java library of others. Says what could not be checked; fails on what is wrong.
#
# usage: tests/tools/audit.sh JAR POM_MODULE
set -euo pipefail
cd "$(dirname "$0")/../.."
jar=${1:?the jar}
module=${2:?the Maven module, such as spark-4.1_2.13}
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.1.4
status=0

echo "== Go modules: checksums"
go mod verify

echo "== Go modules: known vulnerabilities ($govulncheck)"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
if timeout 300 go run "$govulncheck" ./... > "$out" 2>&1; then
  cat "$out"
elif grep -qE 'vulnerabilit(y|ies) (from|in)|^Vulnerability #' "$out"; then
  cat "$out"
  status=1
else
  tail -n 3 "$out"
  echo "NOT CHECKED: the vulnerability database cannot be reached from here. What is linked, to look up by hand:"
  go version -m build/libquiver.so | awk '$1 == "dep" { print "  " $2, $3 }'
  go version
fi

echo "== Java: what the jar needs at run time"
# of the pom, not of Spark's: provided is what Spark brings, test is not shipped
scopes=
if mvn -q -B -f java/pom.xml -pl "$module" help:effective-pom -Doutput="$out" > /dev/null 2>&1; then scopes=$(cat "$out"); fi
[ -n "$scopes" ] || scopes=$(cat java/pom.xml "java/$module/pom.xml")
runtime=$(printf '%s' "$scopes" | python3 tests/tools/pom_scopes.py)
if [ -n "$runtime" ]; then
  echo "runtime dependencies: $runtime"
  status=1
else
  echo "none: every dependency is provided by Spark or used by tests only"
fi

echo "== Java: what the jar carries"
foreign=$(unzip -Z1 "$jar" '*.class' | grep -v '^io/github/quiverspark/' || true)
nested=$(unzip -Z1 "$jar" | grep '\.jar$' || true)
if [ -n "$foreign$nested" ]; then
  echo "classes and jars of others: $foreign $nested"
  status=1
else
  echo "$(unzip -Z1 "$jar" '*.class' | wc -l) classes, all of io.github.quiverspark; no nested jars"
fi
exit $status
