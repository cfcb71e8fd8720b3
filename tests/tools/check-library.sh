#!/usr/bin/env bash
# Checks a library for Linux: what it shows, what it needs, and for which processor it is. Fails with what is wrong.
#
# usage: tests/tools/check-library.sh FILE ARCHITECTURE GLIBC     such as build/release/linux-aarch64/libquiver.so aarch64 2.17
set -euo pipefail
cd "$(dirname "$0")/../.."
file=${1:?file} arch=${2:?architecture} newest=${3:?newest glibc allowed}
export LC_ALL=C
status=0
wrong() { echo "$file: $*" >&2; status=1; }

case $arch in
  x86_64) machine='Advanced Micro Devices X86-64' ;;
  aarch64) machine=AArch64 ;;
  *) echo "unknown architecture $arch" >&2; exit 2 ;;
esac
readelf -hW "$file" | grep -q "Machine: *$machine$" || wrong "it is not for $arch: $(readelf -hW "$file" | grep Machine:)"

# what is declared: the C ABI, the native methods, and what the JVM calls when it loads the library
declared() {
  grep -o '\bquiver_[a-z_]*(' jni/quiver.h | tr -d '('
  sed -n 's/.*public static native .* \([A-Za-z]*\)(.*/Java_io_github_quiverspark_nativelib_Native_\1/p' \
    java/src/main/java/io/github/quiverspark/nativelib/Native.java
  echo JNI_OnLoad
}
shown() { readelf --dyn-syms -W "$file" | awk '$7 ~ /^[0-9]+$/ && ($5 == "GLOBAL" || $5 == "WEAK") { sub(/@.*/, "", $8); print $8 }'; }
difference=$(diff <(declared | sort -u) <(shown | sort -u) | sed -n 's/^</declared but not shown:/p; s/^>/shown but not declared:/p')
[ -z "$difference" ] || wrong "$difference"
# the patterns that jni/exports.map gives to the linker
patterns=$(sed -n 's/^ *global: *//p' jni/exports.map | tr -d ' ' | tr ';' '\n' | sed '/^$/d; s/\*/.*/; s/.*/^&$/')
others=$(shown | grep -vf <(echo "$patterns") || true)
[ -z "$others" ] || wrong "not in jni/exports.map: $others"

foreign=$(readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux.*)$' || true)
[ -z "$foreign" ] || wrong "needs libraries besides those of glibc: $foreign"
versions=$(readelf -VW "$file" | grep -o 'Name: GLIBC[A-Z_]*[0-9.]*' | sed 's/.*GLIBC_//' | sort -Vu)
needs=$(tail -n 1 <<< "$versions")
[ "$(printf '%s\n' "$needs" "$newest" | sort -V | tail -n 1)" = "$newest" ] || wrong "needs glibc $needs, $newest is allowed"

readelf -lW "$file" | grep -q 'GNU_STACK .*RW ' || wrong "its stack would be executable"
! readelf -dW "$file" | grep -q TEXTREL || wrong "its code is written to when it is loaded (text relocations)"

[ $status -eq 0 ] && echo "$file: $arch, shows what is declared and nothing else, needs glibc $needs or newer (allowed: $newest)"
exit $status
