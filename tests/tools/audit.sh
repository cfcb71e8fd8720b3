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
check() { timeout 300 go run "$govulncheck" "$@" ./... > "$out" 2>&1; }
# Where the database's own server cannot be reached, its sources may be: they are a Go module. Nothing else counts as unreachable: a scan
# that failed for another reason has checked nothing.
unreachable() { grep -q 'fetching vulnerabilities' "$out"; }
source="vuln.go.dev"
check && result=0 || result=$?
if [ "$result" -ne 0 ] && unreachable; then
  version_and_folder='import json, sys; m = json.load(sys.stdin); print(m["Version"], m["Dir"])'
  copy=$(cd / && go mod download -json golang.org/x/vulndb@latest 2> "$out" | python3 -c "$version_and_folder" 2>> "$out") || copy=
  if [ -n "$copy" ]; then
    source="golang.org/x/vulndb ${copy%% *}"
    check -db "file://${copy#* }/data/osv" && result=0 || result=$?
  fi
fi
if [ "$result" -eq 0 ]; then
  cat "$out"
  echo "by the database $source"
elif [ -z "${copy-x}" ]; then # neither of the two
  cat "$out"
  echo "NOT CHECKED: the vulnerability database cannot be reached from here. What is linked, to look up by hand:"
  go version -m build/libquiver.so | awk '$1 == "dep" { print "  " $2, $3 }'
  go version
else
  cat "$out"
  status=1
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
