#!/usr/bin/env bash
# Runs the cache-format benchmark in BENCH_DIR over Quiver, Spark's own formats and Comet's, round after round, and joins the results.
#
# usage: tests/bench/run.sh [--rounds N] [--codecs "pack zstd"] [--peers "spark41-default comet-lz4"] [arguments of the benchmark's run.sh]
#        such as --quick, --only REGEX, --iters WARM TIMED, --cell-cap SECONDS. Peers are contender files of the benchmark; default: Spark's format, that of Spark 4.3 and Comet's with each codec.
# env:   BENCH_DIR   the benchmark (default ../shared/bench); must have run.sh, join.py and contenders/*.conf
#        BENCH_OUT   where results go (default build/bench)
#        BENCH_NICE  priority of what is timed, e.g. -15 (root only)
#        BENCH_JAVA_OPTS  options of every contender's JVM (default: a heap of full size from the start, so that those that cache little have no
#                    smaller one than the others)
#        QUIVER_JAR  the jar (default the one in build/jars/)
# Needs SPARK_HOME and QUIVER_CACHE, which make sets. Comet's jar, Spark 4.3 and TPC-H lineitem at scale 0.5 are fetched when they are needed.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bench=$(cd "${BENCH_DIR:-$root/../shared/bench}" && pwd) || { echo "set BENCH_DIR to the benchmark's folder" >&2; exit 2; }
out=${BENCH_OUT:-$root/build/bench}
cache=${QUIVER_CACHE:-$root/.cache}
rounds=1 codecs="pack zstd lz4 none" peers="spark41-default spark43-arrow comet-none comet-lz4 comet-zstd" lineitem=1 rest=()
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2; shift 2 ;;
    --codecs) codecs=$2; shift 2 ;;
    --peers) peers=$2; shift 2 ;;
    --quick) lineitem=; rest+=("$1"); shift ;;
    --only) [[ $2 == *lineitem* ]] || lineitem=; rest+=("$1" "$2"); shift 2 ;;
    *) rest+=("$1"); shift ;;
  esac
done
export SPARK41_HOME=${SPARK41_HOME:-${SPARK_HOME:?}}
export QUIVER_JAR=${QUIVER_JAR:-$root/build/jars/quiver-spark-4.1_2.13-$(cat "$root/VERSION").jar}
export BENCH_JAVA_OPTS=${BENCH_JAVA_OPTS--Xms${BENCH_MEM:-4g}}
# the benchmark's own folder may be read-only
export BENCH_BUILD=$out/build
mkdir -p "$out"
if [[ $peers == *comet* && -z ${COMET_JAR:-} ]]; then
  "$root/tests/tools/fetch.sh" comet 1.2.0
  export COMET_JAR=$cache/comet-spark-spark4.1_2.13-1.2.0.jar
fi
if [[ $peers == *spark43* && -z ${SPARK43_HOME:-} ]]; then
  "$root/tests/tools/fetch.sh" spark 4.3.0
  export SPARK43_HOME=$cache/spark-4.3.0/pyspark
fi
if [ -n "$lineitem" ]; then
  "$root/tests/tools/fetch.sh" tpch 0.5 8
  rest+=(--lineitem "$cache/tpch-0.5/lineitem")
fi

run() { # contender file, round
  local name
  name=$(basename "$1" .conf)
  echo "[bench] round $2 of $rounds: $name" >&2
  if ! "$bench/run.sh" "$1" "$out/$name.r$2.json" "${rest[@]}" > "$out/$name.r$2.log" 2>&1; then
    tail -n 30 "$out/$name.r$2.log" >&2
    return 1
  fi
}

rm -f "$out"/*.json
for round in $(seq "$rounds"); do
  for peer in $peers; do run "$bench/contenders/$peer.conf" "$round"; done
  for codec in $codecs; do run "$root/tests/bench/contenders/quiver-$codec.conf" "$round"; done
done
for unit in "" --cpu; do
  python3 "$bench/join.py" $unit "$out"/*.json > "$out/table${unit/--/-}.md"
done
cat "$out/table.md"
echo "[bench] written: $out/table.md (wall time), $out/table-cpu.md (process CPU time)" >&2
