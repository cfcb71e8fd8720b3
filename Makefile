# Everything here works on a machine with Go, JDK 17, Maven, Python 3.11, gcc and make. `make help` lists the targets.

VERSION := $(shell cat VERSION)
# The Spark line to build for and to test on; java/lines.tsv lists them.
SPARK ?= 4.1
line = $(shell awk -F'\t' '$$1 == "$(SPARK)" && $(1) { print $$$(2); exit }' java/lines.tsv)
SPARK_LINES := $(shell awk -F'\t' '!/^#/ && $$4 != "-" { print $$1 }' java/lines.tsv)
SCALA ?= $(call line,1,2)
# The Spark release that the tests and the demonstration run on.
SPARK_RELEASE ?= $(call line,$$4 != "-",4)
ifeq ($(SPARK_RELEASE),)
$(error SPARK=$(SPARK): there is a build for: $(SPARK_LINES))
endif
# TPC-H scale of the demonstration.
SCALE ?= 0.1
# Pytest expression: which of the tests in tests/ to run, e.g. T='decimal and zstd'.
T ?=
# Where downloads are kept; several clones may share one.
export QUIVER_CACHE ?= $(CURDIR)/.cache
export QUIVER_SPARK_LINE := $(SPARK)
export SPARK_HOME := $(QUIVER_CACHE)/spark-$(SPARK_RELEASE)/pyspark
export JAVA_HOME ?= $(shell dirname "$$(dirname "$$(readlink -f "$$(command -v javac)")")")
# jni.h, for go vet and go test; build.sh sets its own.
JNI_INCLUDE := -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/$(shell uname -s | tr A-Z a-z)
export CGO_CFLAGS := -O2 $(JNI_INCLUDE)
PYTHON := $(QUIVER_CACHE)/venv/bin/python
# All jars, or that of one line: $(call jar,4.1_2.13)
MODULES := $(shell awk -F'\t' '!/^\#/ { print $$1 "_" $$2 }' java/lines.tsv)
jar = java/spark-$(1)/target/quiver-spark-$(1)-$(VERSION).jar
dist = dist/quiver-spark-$(1)-$(VERSION).jar
MODULE := $(SPARK)_$(SCALA)
JAR := $(call jar,$(MODULE))
DIST := $(call dist,$(MODULE))
# Spark 4.3 is not on Maven Central: compiled against the jars of the pip package
CLASSPATH_RELEASE := 4.3.0
CLASSPATH_JAR := $(QUIVER_CACHE)/spark-$(CLASSPATH_RELEASE).classpath.jar
MVN := mvn -q -B -f java/pom.xml -Dspark.classpath="$(CLASSPATH_JAR)"
PYTEST := $(PYTHON) -m pytest -q -p no:cacheprovider $(if $(T),-k '$(T)')
GO_SOURCES := go.mod go.sum VERSION build.sh $(wildcard *.go) \
  $(shell find native jni -type f -not -name '*_test.go' \( -name '*.go' -o -name '*.[chsS]' -o -name '*.map' \))
JAVA_SOURCES := java/pom.xml LICENSE NOTICE $(wildcard licenses/*.txt) $(shell find java/src/main java/shims -type f)

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
	@echo "            make test-java T=Name. Variables: SPARK=$(SPARK) SCALE=$(SCALE) QUIVER_CACHE=.cache"

##### building

.PHONY: build
build: $(JAR) ## the native library (build/) and the jar (java/spark-LINE_SCALA/target/)

build/libquiver.so: $(GO_SOURCES)
	$(call say,native library)
	./build.sh
	@touch $@

build/hooks/libquiver.so: $(GO_SOURCES)
	$(call say,native library with test hooks)
	./build.sh --test-hooks
	@touch $@

define module-rules
$(call jar,$(1)): build/libquiver.so $(JAVA_SOURCES) java/spark-$(1)/pom.xml $(if $(filter 4.3%,$(1)),$(CLASSPATH_JAR))
	$$(call say,jar for Spark $(1))
	$(MVN) -pl spark-$(1) -DskipTests package
	@touch $$@

$(call dist,$(1)): $(call jar,$(1))
	@mkdir -p dist
	cp $$< $$@.tmp && mv $$@.tmp $$@
endef
$(foreach m,$(MODULES),$(eval $(call module-rules,$(m))))

$(CLASSPATH_JAR):
	@tests/tools/fetch.sh classpath $(CLASSPATH_RELEASE)

.PHONY: dist
dist: $(foreach m,$(MODULES),$(call dist,$(m))) ## dist/quiver-spark-LINE_SCALA-VERSION.jar for every line; users need one of them

.PHONY: spark-conf
spark-conf: ## the spark-submit arguments that switch Quiver on, one a line (SPARK=4.1)
	@$(MAKE) $(DIST) >&2
	@printf '%s\n' --jars '$(CURDIR)/$(DIST)' --conf spark.plugins=io.github.quiverspark.QuiverPlugin

##### what is downloaded, once

.PHONY: fetch
fetch: ## download Spark and the Python packages into the cache
	@tests/tools/fetch.sh python
	@tests/tools/fetch.sh spark $(SPARK_RELEASE)

##### trying it

.PHONY: demo
demo: fetch $(DIST) ## TPC-H tables cached by Spark and by Quiver, answers compared, times and memory (SCALE=0.1)
	@tests/tools/fetch.sh tpch $(SCALE)
	@$(PYTHON) tests/demo/demo.py --data "$(QUIVER_CACHE)/tpch-$(SCALE)" --jar $(DIST)

##### tests

.PHONY: test
test: test-go test-abi test-java test-spark test-cluster-quick ## all of the following

.PHONY: test-go
test-go: ## go vet, gofmt, unit tests, and again under the race detector
	$(call say,go vet and gofmt)
	go vet ./...
	@unformatted=$$(gofmt -l native jni *.go); [ -z "$$unformatted" ] || { echo "gofmt needed: $$unformatted" >&2; exit 1; }
	$(call say,go test)
	go test ./...
	$(call say,go test -race)
	go test -race -short ./native/...

.PHONY: test-abi
test-abi: build/libquiver.so build/hooks/libquiver.so ## the C ABI from Python; pyarrow reads what is stored (T=expression)
	@tests/tools/fetch.sh python
	$(call say,C ABI tests)
	$(PYTEST) tests/abi

.PHONY: test-java
test-java: build/libquiver.so ## JUnit tests
	$(call say,Java tests)
	$(MVN) -pl spark-4.1_2.13 $(if $(T),-Dtest="$(T)") test

.PHONY: test-spark
test-spark: fetch $(DIST) build/hooks/libquiver.so ## integration tests through spark-submit (T=expression picks cases)
	@tests/tools/fetch.sh tpch 0.01
	$(call say,spark-submit tests)
	$(PYTEST) tests/spark

.PHONY: test-spark-full
test-spark-full: fetch $(DIST) build/hooks/libquiver.so ## the same with every codec in every case; test-spark takes pack and one other by turns
	@tests/tools/fetch.sh tpch 0.01
	$(PYTEST) tests/spark --every-codec

.PHONY: test-spark-reference
test-spark-reference: fetch ## the same cases with Spark's own cache format: proves the expected answers
	@tests/tools/fetch.sh tpch 0.01
	$(call say,spark-submit tests with the format of Spark)
	$(PYTEST) tests/spark --format=spark

.PHONY: test-cluster
test-cluster: fetch $(DIST) ## executors that are processes: lost, killed, replaced; all storage levels (T=expression); about ten minutes
	$(call say,cluster tests)
	$(PYTEST) tests/cluster --every-codec

.PHONY: test-cluster-quick
test-cluster-quick: fetch $(DIST) ## those of them that take little time
	$(call say,quick cluster tests)
	$(PYTEST) tests/cluster --quick

SOAK_MINUTES ?= 10
.PHONY: soak
soak: fetch $(DIST) ## all of it at random on two executors, every answer compared; figures at the end (SOAK_MINUTES=10)
	@$(PYTHON) tests/cluster/soak.py $(SOAK_MINUTES)

.PHONY: test-suites
test-suites: $(DIST) ## Spark's own published suites of its cache, run with Quiver (T=regular expression over test names)
	@tests/tools/fetch.sh python
	$(call say,suites of Spark)
	$(PYTHON) tests/suites/run.py --jar $(DIST) $(if $(T),--test '$(T)')

.PHONY: test-hardening
test-hardening: fetch $(DIST) build/hardening/hostile ## short: signals, stacks, forks, class loaders, damaged batches under ASan (T=expression)
	$(call say,hardening tests)
	$(PYTEST) tests/hardening

.PHONY: hardening
hardening: fetch $(DIST) build/hardening/hostile ## the same with full amounts, go test -race, fuzzing, kills, memory; ends with a line of figures
	@rm -f build/hardening/figures.jsonl
	go test -race -short ./native/...
	tests/tools/fuzz.sh 5s
	$(PYTEST) tests/hardening --full
	@$(PYTHON) tests/hardening/report.py

# Time for each fuzz target
FUZZ_TIME ?= 10m
.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_TIME=10m, for nightly runs
	tests/tools/fuzz.sh $(FUZZ_TIME)

# Library and caller with AddressSanitizer
build/hardening/libquiver-asan.so: $(GO_SOURCES)
	$(call say,native library with AddressSanitizer)
	@mkdir -p $(@D)
	CGO_ENABLED=1 CGO_CFLAGS="-O1 -g $(JNI_INCLUDE)" \
	  go build -asan -buildmode=c-shared -o $@ .

build/hardening/hostile: tests/hardening/asan/hostile.c build/hardening/libquiver-asan.so
	gcc -g -O1 -Wall -Wextra -Werror -fsanitize=address -Ijni $< -o $@ -L$(@D) -l:libquiver-asan.so -Wl,-rpath,'$$ORIGIN'

.PHONY: audit
audit: $(JAR) ## known vulnerabilities of what is linked, checksums, and that the jar needs no other
	tests/tools/audit.sh $(JAR) spark-$(MODULE)

.PHONY: lint
lint: ## shell and Python sources
	@tests/tools/fetch.sh python
	$(PYTHON) -m ruff check tests
	$(PYTHON) -m ruff format --check tests
	bash -n build.sh tests/tools/*.sh tests/bench/*.sh .ci/run

##### documentation

.PHONY: docs
docs: build/libquiver.so fetch ## docs/configuration.md, generated from the settings
	$(MVN) -pl spark-4.1_2.13 -DskipTests test-compile
	java -cp "java/spark-4.1_2.13/target/classes:java/spark-4.1_2.13/target/test-classes:$(SPARK_HOME)/jars/*" \
	  io.github.quiverspark.conf.SettingsDocs docs/configuration.md

##### benchmarks

.PHONY: bench
bench: fetch $(DIST) ## all relations and codecs, Spark and Comet beside Quiver; about an hour; writes docs/performance.md and its picture
	tests/bench/run.sh --all
	$(PYTHON) tests/bench/report.py --doc docs/performance.md --picture docs/performance.svg \
	  --commit "$$(git rev-parse --short HEAD)" build/bench/*.json

.PHONY: bench-quick
bench-quick: fetch $(DIST) ## a change's before and after: flat relation, Spark's format and pack, under six minutes
	tests/bench/run.sh --peers spark41-default --codecs pack --only "flat/" --iters 2 5 --cell-cap 3
	$(PYTHON) tests/bench/report.py build/bench/*.json

.PHONY: clean
clean: ## remove what was built (not the downloads)
	rm -rf build dist java/*/target
