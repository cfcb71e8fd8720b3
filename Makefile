# Everything here works on a machine with Go, JDK 17, Maven, Python 3.11, gcc and make. `make help` lists the targets.

VERSION := $(shell cat VERSION)
# The Spark line to build for; one jar each.
SPARK ?= 4.1
SPARK_LINES := 4.1
# The Spark release that the tests and the demonstration run on.
SPARK_RELEASE ?= 4.1.4
# TPC-H scale of the demonstration.
SCALE ?= 0.1
# Pytest expression: which of the tests in tests/ to run, e.g. T='decimal and zstd'.
T ?=
# Where downloads are kept; several clones may share one.
export QUIVER_CACHE ?= $(CURDIR)/.cache
export SPARK_HOME := $(QUIVER_CACHE)/spark-$(SPARK_RELEASE)/pyspark
export JAVA_HOME ?= $(shell dirname "$$(dirname "$$(readlink -f "$$(command -v javac)")")")
# jni.h, for go vet and go test; build.sh sets its own.
export CGO_CFLAGS ?= -O2 -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/$(shell uname -s | tr A-Z a-z)

# jni.h, for tools that compile the C files outside of build.sh
GO_ENV := CGO_CFLAGS="-O2 -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/linux"
PYTHON := $(QUIVER_CACHE)/venv/bin/python
JAR_NAME := quiver-spark-$(SPARK)_2.13-$(VERSION).jar
JAR := java/target/$(JAR_NAME)
DIST := dist/$(JAR_NAME)
PYTEST := $(PYTHON) -m pytest -q -p no:cacheprovider $(if $(T),-k '$(T)')
GO_SOURCES := go.mod go.sum VERSION build.sh $(wildcard *.go) \
  $(shell find native jni -type f -not -name '*_test.go' \( -name '*.go' -o -name '*.[chsS]' -o -name '*.map' \))
JAVA_SOURCES := java/pom.xml LICENSE NOTICE $(wildcard licenses/*.txt) $(shell find java/src/main -type f)

MAKEFLAGS += --no-print-directory
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

say = @echo "[make] $(1)" >&2

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' Makefile
	@echo "  One test: make test-spark T='decimal and zstd'; make test-abi T=corrupt; go test ./native/row -run Name;"
	@echo "            cd java && mvn -q test -Dtest=Name. Variables: SPARK=$(SPARK) SCALE=$(SCALE) QUIVER_CACHE=.cache"

##### building

.PHONY: build
build: $(JAR) ## the native library (build/) and the jar (java/target/)

build/libquiver.so: $(GO_SOURCES)
	$(call say,native library)
	./build.sh
	@touch $@

build/hooks/libquiver.so: $(GO_SOURCES)
	$(call say,native library with test hooks)
	./build.sh --test-hooks
	@touch $@

$(JAR): build/libquiver.so $(JAVA_SOURCES)
	$(call say,jar for Spark $(SPARK))
	cd java && mvn -q -B -DskipTests package
	@touch $@

.PHONY: dist
dist: $(DIST) ## dist/quiver-spark-4.1_2.13-VERSION.jar, the one file users need

$(DIST): $(JAR)
	@mkdir -p dist
	cp $(JAR) $@.tmp && mv $@.tmp $@

.PHONY: spark-conf
spark-conf: ## the spark-submit arguments that switch Quiver on, one a line (SPARK=4.1)
	@case ' $(SPARK_LINES) ' in *' $(SPARK) '*) ;; *) echo "SPARK=$(SPARK): there is a build for: $(SPARK_LINES)" >&2; exit 2;; esac
	@$(MAKE) dist >&2
	@printf '%s\n' --jars '$(CURDIR)/$(DIST)' --conf spark.plugins=io.github.quiverspark.QuiverPlugin

##### what is downloaded, once

.PHONY: fetch
fetch: ## download Spark and the Python packages into the cache
	@tests/tools/fetch.sh python
	@tests/tools/fetch.sh spark $(SPARK_RELEASE)

##### trying it

.PHONY: demo
demo: fetch dist ## TPC-H tables cached by Spark and by Quiver, answers compared, times and memory (SCALE=0.1)
	@tests/tools/fetch.sh tpch $(SCALE)
	@$(PYTHON) tests/demo/demo.py --data "$(QUIVER_CACHE)/tpch-$(SCALE)" --jar $(DIST)

##### tests

.PHONY: test
test: test-go test-abi test-java test-spark ## all of the following

.PHONY: test-go
test-go: ## go vet, gofmt, unit tests, and again under the race detector
	$(call say,go vet and gofmt)
	$(GO_ENV) go vet ./...
	@unformatted=$$(gofmt -l native jni *.go); [ -z "$$unformatted" ] || { echo "gofmt needed: $$unformatted" >&2; exit 1; }
	$(call say,go test)
	$(GO_ENV) go test ./...
	$(call say,go test -race)
	$(GO_ENV) go test -race -short ./native/...

.PHONY: test-abi
test-abi: build/libquiver.so build/hooks/libquiver.so ## the C ABI from Python; pyarrow reads what is stored (T=expression)
	@tests/tools/fetch.sh python
	$(call say,C ABI tests)
	$(PYTEST) tests/abi

.PHONY: test-java
test-java: build/libquiver.so ## JUnit tests
	$(call say,Java tests)
	cd java && mvn -q -B test

.PHONY: test-spark
test-spark: fetch dist build/hooks/libquiver.so ## integration tests through spark-submit (T=expression picks cases)
	@tests/tools/fetch.sh tpch 0.01
	$(call say,spark-submit tests)
	$(PYTEST) tests/spark

.PHONY: test-spark-full
test-spark-full: fetch dist build/hooks/libquiver.so ## the same with every codec in every case; test-spark takes pack and one other by turns
	@tests/tools/fetch.sh tpch 0.01
	$(PYTEST) tests/spark --every-codec

.PHONY: test-spark-reference
test-spark-reference: fetch ## the same cases with Spark's own cache format: proves the expected answers
	@tests/tools/fetch.sh tpch 0.01
	$(call say,spark-submit tests with the format of Spark)
	$(PYTEST) tests/spark --format=spark

.PHONY: test-suites
test-suites: dist ## Spark's own published suites of its cache, run with Quiver (T=regular expression over test names)
	@tests/tools/fetch.sh python
	$(call say,suites of Spark)
	$(PYTHON) tests/suites/run.py --jar $(DIST) $(if $(T),--test '$(T)')

.PHONY: lint
lint: ## shell and Python sources
	@tests/tools/fetch.sh python
	$(PYTHON) -m ruff check tests
	$(PYTHON) -m ruff format --check tests
	bash -n build.sh tests/tools/*.sh tests/bench/*.sh .ci/run

##### documentation

.PHONY: docs
docs: $(JAR) fetch ## docs/configuration.md, generated from the settings
	java -cp "java/target/classes:$(SPARK_HOME)/jars/*" io.github.quiverspark.conf.SettingsDocs docs/configuration.md

##### benchmarks

.PHONY: bench
bench: fetch dist ## all relations and codecs with the benchmark in BENCH_DIR (default ../shared/bench); about an hour
	tests/bench/run.sh

.PHONY: bench-quick
bench-quick: fetch dist ## flat relation only, few rounds
	tests/bench/run.sh --quick

.PHONY: clean
clean: ## remove what was built (not the downloads)
	rm -rf build dist java/target
