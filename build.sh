#!/usr/bin/env bash
# Builds the native library: for this machine, with its C compiler and for its C library, or for release. A library and its checksum are
# also laid out as in the jar, under build/native-resources or build/release/native-resources.
#
# usage: build.sh                         build/libquiver.so, for this machine
#        build.sh --test-hooks            build/hooks/libquiver.so, in which tests can inject failures; never shipped
#        build.sh --release               build/release/linux-{x86_64,aarch64}/libquiver.so, for glibc 2.17 and newer, checked
#        build.sh --release --test-hooks  build/release/linux-{x86_64,aarch64}/hooks/libquiver.so
# env:   JAVA_HOME  a JDK (for jni.h); found through javac otherwise
#        CC         the C compiler for this machine (default gcc)
#        ZIG        the compiler of release builds (default: tests/tools/fetch.sh zig fetches it)
set -euo pipefail
cd "$(dirname "$0")"

release='' tags='' hooks=''
for argument; do
  case "$argument" in
    --release) release=1 ;;
    --test-hooks) tags=quiverhooks hooks=hooks/ ;;
    *) sed -n '2,12s/^# \?//p' "$0" >&2; exit 2 ;;
  esac
done

fail() { echo "build.sh: $*" >&2; exit 1; }
command -v go >/dev/null || fail "no go command; install Go 1.26 or newer"
[ -n "$release" ] || command -v "${CC:-gcc}" >/dev/null || fail "no C compiler ${CC:-gcc}"
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
# macOS before 15 has no sha256sum
sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

version=$(cat VERSION)
# The build id names the sources: it is the same for the same files, committed or not.
sources() { find exports.go go.mod go.sum native jni -type f ! -name '*_test.go' ! -path '*/testdata/*' | LC_ALL=C sort; }
checksums() { while read -r file; do sha256 "$file"; done; }
build_id=$(sources | checksums | sha256 | cut -c1-12)
# Go's build cache does not see that exports.go includes jni/quiver.h; a flag that changes with it does.
header=$(sha256 jni/quiver.h | cut -c1-12)

compile() { # file; more by the environment
  mkdir -p "$(dirname "$1")"
  local ldflags="-s -w -X main.version=$version -X main.buildID=$build_id"
  [ "$os" != linux ] || ldflags+=" -extldflags=-Wl,--version-script=$PWD/jni/exports.map"
  CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$JAVA_HOME/include -I$JAVA_HOME/include/$jni_os -DQUIVER_HEADER_$header" \
    go build -trimpath -buildmode=c-shared -tags "$tags" -ldflags "$ldflags" -o "$1" .
  rm -f "${1%.*}.h"
  echo "built $1 ($version, build $build_id, $os-$arch)"
}

lay_out() { # file, folder: nothing for a library with hooks
  [ -z "$hooks" ] || return 0
  local dir=$2/io/github/quiverspark/native/$os-$arch
  mkdir -p "$dir"
  cp "$1" "$dir/libquiver-$version.$ext"
  sha256 < "$1" | cut -d' ' -f1 > "$dir/libquiver-$version.$ext.sha256"
}

if [ -z "$release" ]; then
  file=build/${hooks}libquiver.$ext
  compile "$file"
  [ -n "$hooks" ] || rm -rf build/native-resources
  lay_out "$file" build/native-resources
  exit
fi

[ "$os" = linux ] || fail "--release makes the libraries for Linux, on Linux; without it build.sh makes the one for this machine"
[ -n "${ZIG:-}" ] || ZIG=$(tests/tools/fetch.sh zig)
ZIG_GLOBAL_CACHE_DIR=$(dirname "$ZIG")/../cache
export GOOS=linux ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
[ -n "$hooks" ] || rm -rf build/release/native-resources
for arch in x86_64 aarch64; do
  case $arch in x86_64) goarch=amd64 ;; aarch64) goarch=arm64 ;; esac
  file=build/release/linux-$arch/${hooks}libquiver.so
  CC="'$ZIG' cc -target $arch-linux-gnu.2.17" GOARCH=$goarch compile "$file"
  tests/tools/check-library.sh "$file" "$arch" 2.17
  lay_out "$file" build/release/native-resources
done
