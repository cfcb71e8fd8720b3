#!/usr/bin/env bash
# Compares the Go modules that the library links with NOTICE and licenses/, which every jar has: each module is named, with a licence's
# text unless it is Apache-2.0, which LICENSE is; and no text is left over.
set -euo pipefail
cd "$(dirname "$0")/../.."
status=0
wrong() { echo "licences: $*" >&2; status=1; }

own=$(go list -m)
linked=$(go list -deps -f '{{with .Module}}{{.Path}}{{end}}' . | sort -u | grep -vx "$own")
[ -n "$linked" ] || wrong "go list names no module"
for module in $linked; do
  # major versions are no part of the name
  name=$(sed -E 's,/v[0-9]+$,,' <<< "$module")
  entry=$(grep -F "$name" NOTICE || true)
  if [ -z "$entry" ]; then
    wrong "$module is linked but not in NOTICE"
  fi
done
named=$(grep -oE 'licenses/[a-z0-9-]+\.txt' NOTICE | sort -u)
for text in $named; do
  [ -s "$text" ] || wrong "NOTICE names $text, which is not there"
done
for text in licenses/*.txt; do
  grep -qF "$text" NOTICE || wrong "$text is not named in NOTICE"
done
# modules that NOTICE has and the library no longer links
named=$(grep -oE '(github\.com|golang\.org)/[a-z0-9-]+/[a-z0-9-]+' NOTICE | sort -u)
for name in $named; do
  grep -qE "^$name(/v[0-9]+)?$" <<< "$linked" || wrong "NOTICE names $name, which is not linked"
done
# the texts are those of the modules
go mod download
for module in $linked; do
  name=$(sed -E 's,/v[0-9]+$,,' <<< "$module")
  text=licenses/$(sed -E 's,^[^/]*/,,; s,/,-,g' <<< "$name").txt
  case $name in golang.org/x/*) text=licenses/go.txt ;; esac
  if [ -f "$text" ]; then
    folder=$(go list -m -f '{{.Dir}}' "$module")
    original=$(find "$folder" -maxdepth 1 -type f -iname 'LICENSE*' | head -n 1)
    grep -qxFf <(grep -i 'copyright' "${original:-/dev/null}" | head -n 1) "$text" || wrong "$text is not the text of $module"
  else
    grep -qE "$name +Apache-2\.0" NOTICE || wrong "$module is not Apache-2.0, and there is no $text"
  fi
done
[ $status -eq 0 ] && echo "licences: $(wc -l <<< "$linked") linked modules, all in NOTICE and licenses/"
exit $status
