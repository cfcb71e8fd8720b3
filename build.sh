#!/usr/bin/env bash
# Builds the native library for this machine: build/libquiver.so, and the same file with its
# checksum laid out as in the jar under build/native-resources.
#
# usage: build.sh [--test-hooks]
#   --test-hooks  build/hooks/libquiver.so instead, in which tests can inject failures; never shipped
# env:  JAVA_HOME  a JDK (for jni.h); found through javac otherwise
#       CC         the C compiler (default gcc)
set -euo pipefail
cd "$(dirname "$0")"

hooks=
case "${1:-}" in
  '') ;;
  --test-hooks) hooks=1 ;;
  *) sed -n '2,9s/^# \?//p' "$0" >&2; exit 2 ;;
esac

fail() { echo "build.sh: $*" >&2; exit 1; }
command -v go >/dev/null || fail "no go command; install Go 1.26 or newer"
command -v "${CC:-gcc}" >/dev/null || fail "no C compiler ${CC:-gcc}"
if [ -z "${JAVA_HOME:-}" ]; then
  javac=$(command -v javac) || fail "no javac; install JDK 17 or set JAVA_HOME"
  JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$javac")")")
fi
[ -f "$JAVA_HOME/include/jni.h" ] || fail "no include/jni.h under JAVA_HOME=$JAVA_HOME; it must be a JDK"

case "$(uname -s)" in
  Linux) os=linux ext=so jni_os=linux ;;
  Darwin) os=osx ext=dylib jni_os=darwin ;;
  *) fail "no support for $(uname -s)" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=x86_64 ;;
  aarch64 | arm64) arch=aarch64 ;;
  *) fail "no support for $(uname -m)" ;;
esac

version=$(cat VERSION)
# The build id names the sources: it is the same for the same files, committed or not.
sources() { find exports.go go.mod go.sum native jni -type f ! -name '*_test.go' ! -path '*/testdata/*' | LC_ALL=C sort; }
build_id=$(sources | xargs sha256sum | sha256sum | cut -c1-12)
# Go's build cache does not see that exports.go includes jni/quiver.h; a flag that changes with it does.
header=$(sha256sum jni/quiver.h | cut -c1-12)

out=build/libquiver.$ext tags=
if [ -n "$hooks" ]; then out=build/hooks/libquiver.$ext tags=quiverhooks; fi
mkdir -p "$(dirname "$out")"
ldflags="-s -w -X main.version=$version -X main.buildID=$build_id"
[ "$os" != linux ] || ldflags+=" -extldflags=-Wl,--version-script=$PWD/jni/exports.map"

CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$JAVA_HOME/include -I$JAVA_HOME/include/$jni_os -DQUIVER_HEADER_$header" \
  go build -trimpath -buildmode=c-shared -tags "$tags" -ldflags "$ldflags" -o "$out" .
rm -f "${out%.*}.h"

if [ -z "$hooks" ]; then
  dir=build/native-resources/io/github/quiverspark/native/$os-$arch
  rm -rf build/native-resources
  mkdir -p "$dir"
  cp "$out" "$dir/libquiver-$version.$ext"
  sha256sum < "$out" | cut -d' ' -f1 > "$dir/libquiver-$version.$ext.sha256"
fi
echo "built $out ($version, build $build_id, $os-$arch)"
