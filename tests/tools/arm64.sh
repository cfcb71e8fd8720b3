#!/usr/bin/env bash
# Runs a program for Linux on arm64 under QEMU's user mode emulation, with Python 3 and the packages of the C ABI tests.
#
# usage: tests/tools/arm64.sh PROGRAM ARGUMENT…     such as: tests/tools/arm64.sh python3 -m pytest tests/abi
#        tests/tools/arm64.sh go PACKAGE…           go test -short of these packages, compiled for arm64
#
# Needs apt-get with Debian's sources, without rights: emulator, C library and Python are unpacked into the cache, nothing is installed.
# A qemu-aarch64-static or qemu-aarch64 that is installed is taken instead of Debian's.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/tools/apt.sh"
cache=${QUIVER_CACHE:-$root/.cache}
python=${PYTHON:-python3}
mkdir -p "$cache"
dest=$(cd "$cache" && pwd)/arm64
# python3 of Debian 12 is 3.11, as tests/requirements.txt says
packages=(python3.11 libc6 libstdc++6)

say() { echo "[arm64] $*" >&2; }

unpack() { # folder, package files
  local into=$1 file
  shift
  for file in "$@"; do dpkg-deb --extract "$file" "$into"; done
}

fetch() {
  local tmp apt
  tmp=$(mktemp -d "$cache/arm64.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$tmp'" EXIT
  if ! private_apt "$tmp/apt"; then
    say "no apt-get here: run this on Debian 12, or the C ABI tests on an arm64 machine"
    exit 1
  fi
  mkdir -p "$tmp/home/root" "$tmp/home/qemu"
  say "QEMU and Python for arm64 (about 60 MB, once) -> $dest"
  if [ -z "$(installed_qemu)" ]; then
    "${apt[@]}" update
    (cd "$tmp" && "${apt[@]}" download qemu-user-static)
    unpack "$tmp/home/qemu" "$tmp"/qemu-user-static_*.deb
    find "$tmp/home/qemu" -type f ! -name qemu-aarch64-static -delete
  fi
  apt+=(-o APT::Architecture=arm64 -o APT::Architectures=arm64)
  "${apt[@]}" update
  "${apt[@]}" --yes --download-only install "${packages[@]}"
  unpack "$tmp/home/root" "$tmp"/apt/cache/archives/*.deb
  grep -E '^(numpy|pyarrow|pytest)==' "$root/tests/requirements.txt" > "$tmp/requirements"
  "$python" -m pip install --quiet --root-user-action=ignore --target "$tmp/home/packages" --requirement "$tmp/requirements" \
    --python-version 3.11 --implementation cp --abi cp311 --only-binary :all: \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64
  [ -d "$dest" ] || mv -T "$tmp/home" "$dest"
  rm -rf "$tmp"
  trap - EXIT
}

installed_qemu() { command -v qemu-aarch64-static || command -v qemu-aarch64 || true; }

[ -d "$dest" ] || fetch
qemu=$(installed_qemu)
[ -n "$qemu" ] || qemu=$dest/qemu/usr/bin/qemu-aarch64-static
program=${1:?program}
shift
case $program in
  python3) program=$dest/root/usr/bin/python3.11 ;;
  go)
    zig=$("$root/tests/tools/fetch.sh" zig)
    ZIG_GLOBAL_CACHE_DIR=$(dirname "$zig")/../cache
    export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
    export GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC="'$zig' cc -target aarch64-linux-gnu.2.17"
    # one program at a time: each takes several times as long as on a processor of its own
    exec go test -short -p 1 -timeout 30m -exec "$root/tests/tools/arm64.sh" "$@" ;;
esac
export PYTHONPATH=$dest/packages PYTHONDONTWRITEBYTECODE=1
exec "$qemu" -L "$dest/root" "$program" "$@"
