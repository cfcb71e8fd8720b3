#!/bin/sh
# Regenerates ../spark.golden with the Spark distribution at SPARK_HOME (jars/ in it) and the JDK on the PATH.
set -eu
cd "$(dirname "$0")"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
javac -proc:none -cp "$SPARK_HOME/jars/*" -d "$build" Goldens.java
java --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
  --add-opens=java.base/java.lang=ALL-UNNAMED -cp "$build:$SPARK_HOME/jars/*" Goldens ../spark.golden
