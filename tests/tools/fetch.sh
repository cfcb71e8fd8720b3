#!/usr/bin/env bash
# Fetches what the tests and the demonstration need into the cache folder.
#
# usage: tests/tools/fetch.sh spark [VERSION]     a Spark distribution (the pip package has everything spark-submit needs)
#        tests/tools/fetch.sh python              a virtual environment with tests/requirements.txt
#        tests/tools/fetch.sh lint                another with the tools of make lint
#        tests/tools/fetch.sh zig                 the C compiler of release builds; prints its path
#        tests/tools/fetch.sh comet [VERSION]     Comet's jar for Spark 4.1, which the benchmark compares with
#        tests/tools/fetch.sh classpath [VERSION] a jar without classes that names the jars of that Spark, to compile against
#        tests/tools/fetch.sh jdk 8|11|21         a Java runtime to run tests on, where the machine has none (tests/tools/jdk.sh)
#        tests/tools/fetch.sh tpch SCALE [FILES]  TPC-H tables as Parquet, 2 files each unless told otherwise
#
# QUIVER_CACHE names another cache folder, which several clones may share. Everything is made under a temporary name and
# renamed when complete (the environment, which cannot be moved, gets a stamp instead), so an interrupted run leaves nothing
# that looks finished.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cache=${QUIVER_CACHE:-$root/.cache}
python=${PYTHON:-python3}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

say() { echo "[fetch] $*" >&2; }

fetch_spark() {
  local version=$1 dest=$cache/spark-$1
  [ -d "$dest/pyspark/jars" ] && return
  say "Spark $version (about 450 MB, once) -> $dest"
  local tmp
  tmp=$(mktemp -d "$cache/spark-$version.XXXXXX")
  # shellcheck disable=SC2064  # expand now
  trap "rm -rf '$tmp'" EXIT
  "$python" -m pip install --quiet --no-deps --root-user-action=ignore --target "$tmp/home" "pyspark==$version"
  [ -d "$dest" ] || mv -T "$tmp/home" "$dest"
  rm -rf "$tmp"
  trap - EXIT
  say "Spark $version is ready"
}

fetch_python() { # environment's name, list of packages
  local want have venv=$cache/$1 list=$2 stamp=$cache/$1/.complete
  want=$(sha256sum < "$root/$list")
  have=$(cat "$stamp" 2>/dev/null || true)
  [ "$want" = "$have" ] && return
  say "Python packages of $list (once) -> $venv"
  rm -f "$stamp"
  [ -x "$venv/bin/python" ] || "$python" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --requirement "$root/$list"
  echo "$want" > "$stamp"
  say "Python packages are ready"
}

fetch_zig() {
  local list=$root/tests/tools/zig-requirements.txt version dest tmp
  version=$(sed -n 's/^ziglang==\([^ ]*\).*/\1/p' "$list")
  dest=$cache/zig-$version
  if [ ! -x "$dest/ziglang/zig" ]; then
    say "zig $version (about 80 MB, once) -> $dest"
    tmp=$(mktemp -d "$cache/zig-$version.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$tmp'" EXIT
    "$python" -m pip install --quiet --no-deps --root-user-action=ignore --require-hashes --target "$tmp/home" --requirement "$list" >&2
    [ -d "$dest" ] || mv -T "$tmp/home" "$dest"
    rm -rf "$tmp"
    trap - EXIT
  fi
  echo "$dest/ziglang/zig"
}

fetch_comet() {
  local version=$1 artifact=comet-spark-spark4.1_2.13
  [ -f "$cache/$artifact-$version.jar" ] && return
  say "Comet $version -> $cache"
  mvn -q -B dependency:copy -Dartifact="org.apache.datafusion:$artifact:$version" -DoutputDirectory="$cache" -Dmdep.overWriteIfNewer=true
}

fetch_classpath() {
  local version=$1 dest=$cache/spark-$1.classpath.jar
  [ -f "$dest" ] && return
  fetch_spark "$version"
  local tmp
  tmp=$(mktemp -d "$cache/classpath.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$tmp'" EXIT
  # one attribute, continued by a line break and a space: lines of a manifest have at most 72 bytes
  { echo "Manifest-Version: 1.0"
    (cd "$cache" && printf 'Class-Path:' && printf ' %s' "spark-$version"/pyspark/jars/*.jar) | sed 's/.\{70\}/&\n /g'
    echo; } > "$tmp/manifest"
  jar --create --file "$tmp/classpath.jar" --manifest "$tmp/manifest"
  mv "$tmp/classpath.jar" "$dest"
  rm -rf "$tmp"
  trap - EXIT
}

fetch_tpch() {
  local scale=$1 files=$2 dest=$cache/tpch-$1
  [ -d "$dest" ] && return
  fetch_python venv tests/requirements.txt
  say "TPC-H lineitem, orders and customer at scale $scale -> $dest"
  local tmp
  tmp=$(mktemp -d "$cache/tpch-$scale.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$tmp'" EXIT
  "$cache/venv/bin/tpchgen-cli" -s "$scale" --format=parquet --tables=lineitem,orders,customer --parts="$files" --output-dir="$tmp/data"
  [ -d "$dest" ] || mv -T "$tmp/data" "$dest"
  rm -rf "$tmp"
  trap - EXIT
}

case ${1:-} in
  spark) fetch_spark "${2:-4.1.4}" ;;
  python) fetch_python venv tests/requirements.txt ;;
  lint) fetch_python lint tests/tools/lint-requirements.txt ;;
  classpath) fetch_classpath "${2:-4.3.0}" ;;
  zig) fetch_zig ;;
  comet) fetch_comet "${2:-1.2.0}" ;;
  jdk) exec "$root/tests/tools/jdk.sh" "${2:?version}" ;;
  tpch) fetch_tpch "${2:?scale}" "${3:-2}" ;;
  *) sed -n '2,15p' "$0" >&2; exit 2 ;;
esac
