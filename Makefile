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
# Modules of java/, and what is made of one: $(call jar,4.1_2.13)
MODULES := $(shell awk -F'\t' '!/^\#/ { print $$1 "_" $$2 }' java/lines.tsv)
name = quiver-spark-$(1)-$(VERSION).jar
pom = quiver-spark-$(1)-$(VERSION).pom
target = java/spark-$(1)/target/$(call name,$(1))
MODULE := $(SPARK)_$(SCALA)
# Whose jars tests and demonstration use: build/jars has the library of this machine only, quickly made; JARS=dist has those that are released.
JARS ?= build/jars
JAR := $(JARS)/$(call name,$(MODULE))
# Spark 4.3 is not on Maven Central: compiled against the jars of the pip package
CLASSPATH_RELEASE := 4.3.0
CLASSPATH_JAR := $(QUIVER_CACHE)/spark-$(CLASSPATH_RELEASE).classpath.jar
MVN := mvn -q -B -f java/pom.xml -Dspark.classpath="$(CLASSPATH_JAR)"
# Where arm64 code differs from that of x86-64: kernels, unaligned reads, C memory
ARM64_PACKAGES ?= ./native/pack ./native/row ./native/stats ./native/memory ./native/cmem ./native/codec
PYTEST := $(PYTHON) -m pytest -q -p no:cacheprovider $(if $(T),-k '$(T)')
GO_SOURCES := go.mod go.sum VERSION build.sh $(wildcard *.go) \
  $(shell find native jni -type f -not -name '*_test.go' \( -name '*.go' -o -name '*.[chsS]' -o -name '*.map' \))
JAVA_SOURCES := java/pom.xml LICENSE NOTICE $(wildcard licenses/*.txt) $(shell find java/src/main java/shims -type f)

MAKEFLAGS += --no-print-directory
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

comma := ,
say = @echo "[make] $(1)" >&2

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' Makefile
	@echo "  One test: make test-spark T='decimal and zstd'; make test-abi T=corrupt; go test ./native/row -run Name;"
	@echo "            make test-java T=Name. Variables: SPARK=$(SPARK) SCALE=$(SCALE) QUIVER_CACHE=.cache"

##### building

.PHONY: build
build: $(JAR) ## the native library of this machine (build/) and a jar with it (build/jars/)

build/libquiver.so: $(GO_SOURCES)
	$(call say,native library)
	./build.sh
	@touch $@

build/hooks/libquiver.so: $(GO_SOURCES)
	$(call say,native library with test hooks)
	./build.sh --test-hooks
	@touch $@

build/release/hooks: $(GO_SOURCES)
	$(call say,native libraries of the release with test hooks)
	./build.sh --release --test-hooks
	@touch $@

build/release/complete: $(GO_SOURCES) tests/tools/check-library.sh tests/tools/zig-requirements.txt
	$(call say,native libraries of the release)
	./build.sh --release
	@touch $@

define module-rules
$(call target,$(1)): build/libquiver.so $(JAVA_SOURCES) java/spark-$(1)/pom.xml $(if $(filter 4.3%,$(1)),$(CLASSPATH_JAR))
	$$(call say,jar for Spark $(1))
	$(MVN) -pl spark-$(1) -DskipTests package
	@touch $$@

build/jars/$(call name,$(1)): $(call target,$(1))
	@mkdir -p $$(@D)
	cp $$< $$@.tmp && mv $$@.tmp $$@

# The released libraries beside this machine's; on Linux one of them is in its place.
dist/$(call name,$(1)): $(call target,$(1)) build/release/complete
	@mkdir -p $$(@D)
	cp $$< $$@.tmp && jar --update --file $$@.tmp -C build/release/native-resources io && mv $$@.tmp $$@

# Beside the jar in a Maven repository; the jar has it, too.
dist/$(call pom,$(1)): $(call target,$(1))
	@mkdir -p $$(@D)
	cp $$(<D)/$$(@F) $$@
endef
$(foreach m,$(MODULES),$(eval $(call module-rules,$(m))))

$(CLASSPATH_JAR):
	@tests/tools/fetch.sh classpath $(CLASSPATH_RELEASE)

.PHONY: dist
dist: $(foreach m,$(MODULES),dist/$(call name,$(m)) dist/$(call pom,$(m))) ## for users: dist/quiver-spark-LINE_SCALA-VERSION.jar and .pom for every line, Linux on x86-64 and arm64

CYCLONEDX_GO := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
CYCLONEDX_MAVEN := org.cyclonedx:cyclonedx-maven-plugin:2.9.3
.PHONY: release
release: dist ## what a release has: dist/ with the jars and poms, bills of materials (CycloneDX) of the Go and Maven sides, SHA256SUMS
	$(call say,bills of materials)
	tests/tools/licenses.sh
	go run $(CYCLONEDX_GO) app -json -output dist/quiver-$(VERSION).go.cdx.json .
	$(MVN) -pl spark-4.1_2.13 $(CYCLONEDX_MAVEN):makeBom -DoutputFormat=json -DoutputDirectory="$(CURDIR)/dist" \
	  -DoutputName=quiver-$(VERSION).maven.cdx -DincludeProvidedScope=false
	cd dist && sha256sum *-$(VERSION).jar *-$(VERSION).pom *-$(VERSION)*.json > SHA256SUMS

.PHONY: spark-conf
spark-conf: ## the spark-submit arguments that switch Quiver on, one a line (SPARK=4.1; JARS=dist)
	@$(MAKE) $(JAR) >&2
	@printf '%s\n' --jars '$(CURDIR)/$(JAR)' --conf spark.plugins=io.github.quiverspark.QuiverPlugin

##### what is downloaded, once

.PHONY: fetch
fetch: ## download Spark and the Python packages into the cache
	@tests/tools/fetch.sh python
	@tests/tools/fetch.sh spark $(SPARK_RELEASE)

##### trying it

.PHONY: demo
demo: fetch $(JAR) ## TPC-H tables cached by Spark and by Quiver, answers compared, times and memory (SCALE=0.1)
	@tests/tools/fetch.sh tpch $(SCALE)
	@$(PYTHON) tests/demo/demo.py --data "$(QUIVER_CACHE)/tpch-$(SCALE)" --jar $(JAR)

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

.PHONY: test-release
test-release: build/release/complete build/release/hooks ## the C ABI tests with the released library for this machine
	@tests/tools/fetch.sh python
	$(call say,C ABI tests with the released library)
	QUIVER_LIBRARIES="$(CURDIR)/build/release/linux-$(shell uname -m)" $(PYTEST) tests/abi

.PHONY: test-arm64
test-arm64: build/release/complete build/release/hooks ## Go packages and C ABI tests for arm64 under QEMU (x86-64 Debian only)
	$(call say,Go tests for arm64)
	tests/tools/arm64.sh go $(ARM64_PACKAGES)
	$(call say,C ABI tests with the released library for arm64)
	QUIVER_LIBRARIES="$(CURDIR)/build/release/linux-aarch64" tests/tools/arm64.sh python3 -m pytest -q -p no:cacheprovider $(if $(T),-k '$(T)') tests/abi

.PHONY: test-java
test-java: build/libquiver.so ## JUnit tests
	$(call say,Java tests)
	$(MVN) -pl spark-4.1_2.13 $(if $(T),-Dtest="$(T)") test

.PHONY: test-spark
test-spark: fetch $(JAR) build/hooks/libquiver.so ## integration tests through spark-submit (T=expression picks cases)
	@tests/tools/fetch.sh tpch 0.01
	$(call say,spark-submit tests)
	$(PYTEST) tests/spark

.PHONY: test-packages
test-packages: fetch $(JAR) ## the jar by spark-submit --packages, from a folder laid out as Maven does (SPARK=3.5)
	$(PYTEST) tests/spark/test_packages.py

# Lines and JDKs of the matrix; all that there are unless told otherwise
LINES ?=
JDKS ?=
.PHONY: test-matrix
test-matrix: ## test-spark on every line and JDK; outcomes to tests/matrix/results.jsonl (LINES="3.5 4.3" JDKS="17 25" T=expression)
	@JARS='$(JARS)' python3 tests/matrix/matrix.py run --lines '$(LINES)' --jdks '$(JDKS)' --select '$(T)'

.PHONY: test-spark-full
test-spark-full: fetch $(JAR) build/hooks/libquiver.so ## the same with every codec in every case; test-spark takes one or two by turns
	@tests/tools/fetch.sh tpch 0.01
	$(PYTEST) tests/spark --every-codec

.PHONY: test-spark-reference
test-spark-reference: fetch ## the same cases with Spark's own cache format: proves the expected answers
	@tests/tools/fetch.sh tpch 0.01
	$(call say,spark-submit tests with the format of Spark)
	$(PYTEST) tests/spark --format=spark

.PHONY: test-cluster
test-cluster: fetch $(JAR) ## executors that are processes: lost, killed, replaced; all storage levels (T=expression); about ten minutes
	$(call say,cluster tests)
	$(PYTEST) tests/cluster --every-codec

.PHONY: test-cluster-quick
test-cluster-quick: fetch $(JAR) ## those of them that take little time
	$(call say,quick cluster tests)
	$(PYTEST) tests/cluster --quick

SOAK_MINUTES ?= 10
.PHONY: soak
soak: fetch $(JAR) ## all of it at random on two executors, every answer compared; figures at the end (SOAK_MINUTES=10)
	@$(PYTHON) tests/cluster/soak.py $(SOAK_MINUTES)

.PHONY: test-suites
test-suites: $(JAR) ## Spark's own published suites of its cache, run with Quiver (T=regular expression over test names)
	@tests/tools/fetch.sh python
	$(call say,suites of Spark)
	$(PYTHON) tests/suites/run.py --jar $(JAR) $(if $(T),--test '$(T)')

.PHONY: test-hardening
test-hardening: fetch $(JAR) build/hardening/hostile ## short: signals, stacks, forks, class loaders, damaged batches under ASan (T=expression)
	$(call say,hardening tests)
	$(PYTEST) tests/hardening

.PHONY: hardening
hardening: fetch $(JAR) build/hardening/hostile ## the same with full amounts, go test -race, fuzzing, kills, memory; ends with a line of figures
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

build/hardening/hostile: $(wildcard tests/hardening/asan/*) build/hardening/libquiver-asan.so
	gcc -g -O1 -Wall -Wextra -Werror -fsanitize=address -Ijni $(filter %.c,$^) -o $@ -L$(@D) -l:libquiver-asan.so -Wl,-rpath,'$$ORIGIN'

.PHONY: audit
audit: $(JAR) ## known vulnerabilities of what is linked, checksums, and that the jar needs no other
	tests/tools/audit.sh $(JAR) spark-$(MODULE)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
LINT := $(QUIVER_CACHE)/lint/bin
SHELL_SCRIPTS := build.sh .ci/run $(shell find tests -name '*.sh')
C_SOURCES := $(shell find jni tests -name '*.[ch]')

.PHONY: lint
lint: lint-go lint-c lint-java lint-scripts ## formatting, and faults that tools see, in all sources; licences of what is linked

.PHONY: lint-go
lint-go:
	$(call say,gofmt$(comma) go vet$(comma) staticcheck)
	@unformatted=$$(gofmt -l native jni *.go); [ -z "$$unformatted" ] || { echo "gofmt needed: $$unformatted" >&2; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	tests/tools/licenses.sh

.PHONY: lint-c
lint-c:
	@tests/tools/fetch.sh lint
	$(call say,clang-format$(comma) gcc -fanalyzer)
	$(LINT)/clang-format --dry-run --Werror $(C_SOURCES)
	for file in jni/*.c; do \
	  gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fanalyzer $(JNI_INCLUDE) -Ijni -c "$$file" -o /dev/null; done

.PHONY: lint-java
lint-java: $(CLASSPATH_JAR)
	$(call say,checkstyle$(comma) error-prone)
	$(MVN:-q=-Dorg.slf4j.simpleLogger.defaultLogLevel=warn) -Plint -pl spark-4.1_2.13 compile

.PHONY: lint-scripts
lint-scripts:
	@tests/tools/fetch.sh python
	@tests/tools/fetch.sh lint
	$(call say,ruff$(comma) shellcheck$(comma) actionlint)
	$(PYTHON) -m ruff check tests
	$(PYTHON) -m ruff format --check tests
	$(LINT)/shellcheck $(SHELL_SCRIPTS)
	PATH="$(LINT):$$PATH" go run $(ACTIONLINT)

##### documentation

.PHONY: docs
docs: build/libquiver.so fetch ## docs/configuration.md, from the settings, and the tables of docs/compatibility.md
	python3 tests/matrix/matrix.py docs
	$(MVN) -pl spark-4.1_2.13 -DskipTests test-compile
	java -cp "java/spark-4.1_2.13/target/classes:java/spark-4.1_2.13/target/test-classes:$(SPARK_HOME)/jars/*" \
	  io.github.quiverspark.conf.SettingsDocs docs/configuration.md

##### benchmarks

.PHONY: bench
bench: fetch $(JAR) ## all relations and codecs, Spark and Comet beside Quiver; about an hour; writes docs/performance.md and its picture
	QUIVER_JAR='$(CURDIR)/$(JAR)' tests/bench/run.sh --all --iters 3 7 --cell-cap 4
	$(PYTHON) tests/bench/report.py --doc docs/performance.md --picture docs/performance.svg \
	  --commit "$$(git rev-parse --short HEAD)" build/bench/*.json

CODEC_CELLS := flat/(src-noop|materialize|[0136]of6)/(?!row)
.PHONY: bench-codecs
bench-codecs: fetch $(JAR) ## the default codec beside the others of Quiver and Comet's, on the flat relation, five rounds; 50 minutes
	QUIVER_JAR='$(CURDIR)/$(JAR)' BENCH_OUT=build/bench-codecs tests/bench/run.sh --rounds 5 \
	  --peers 'comet-none comet-lz4 comet-zstd' --only '$(CODEC_CELLS)' --iters 3 9 --cell-cap 3
	$(PYTHON) tests/bench/report.py --codecs --command 'make bench-codecs' --doc docs/performance.md \
	  --commit "$$(git rev-parse --short HEAD)" build/bench-codecs/*.json

.PHONY: bench-quick
bench-quick: fetch $(JAR) ## a change's before and after: flat relation, Spark's format and pack, under six minutes
	QUIVER_JAR='$(CURDIR)/$(JAR)' tests/bench/run.sh --peers spark41-default --codecs pack --only "flat/" --iters 2 5 --cell-cap 3
	$(PYTHON) tests/bench/report.py build/bench/*.json

.PHONY: bench-schemas
bench-schemas: fetch $(JAR) ## reading relations of ten schemas in one JVM: is the tenth slower than alone?
	@for which in alone last; do \
	  PYSPARK_PYTHON=$(PYTHON) "$(SPARK_HOME)/bin/spark-submit" --master 'local[1]' --driver-memory 2g --jars $(JAR) \
	    --conf spark.plugins=io.github.quiverspark.QuiverPlugin --conf spark.ui.enabled=false --conf spark.log.level=ERROR \
	    tests/bench/schemas.py build/schemas-$$which.json $$which 2>/dev/null; \
	done

.PHONY: bench-filters
bench-filters: fetch $(JAR) ## selective filters over rows in no order: Spark's format, Quiver with and without filtering while decoding
	@PYSPARK_PYTHON=$(PYTHON) "$(SPARK_HOME)/bin/spark-submit" --master 'local[1]' --driver-memory 4g --conf spark.ui.enabled=false \
	  --conf spark.log.level=ERROR tests/bench/filters.py build/filters.json spark 2>/dev/null
	@PYSPARK_PYTHON=$(PYTHON) "$(SPARK_HOME)/bin/spark-submit" --master 'local[1]' --driver-memory 4g --conf spark.ui.enabled=false \
	  --conf spark.log.level=ERROR --jars $(JAR) --conf spark.plugins=io.github.quiverspark.QuiverPlugin \
	  tests/bench/filters.py build/filters.json quiver 2>/dev/null

# Each takes about as long as it says where nothing else runs, and writes its section of docs/performance.md.
measure = $(PYTHON) tests/bench/$(1).py --jar $(JAR) --doc docs/performance.md

.PHONY: bench-tpch
bench-tpch: fetch $(JAR) ## TPC-H 1, 3 and 6 over cached tables, Spark's format and Quiver; three minutes
	@tests/tools/fetch.sh tpch 0.5 8
	@BENCH_TPCH='$(QUIVER_CACHE)/tpch-0.5' $(call measure,tpch)

.PHONY: bench-scaling
bench-scaling: fetch $(JAR) ## one and two tasks; 0.2, 2 and 20 million rows: time by row, memory while reading; six minutes
	@$(call measure,scaling)

.PHONY: bench-ahead
bench-ahead: fetch $(JAR) ## batches encoded on an idle task slot, on and off; three minutes
	@$(call measure,ahead)

.PHONY: bench-gc
bench-gc: fetch $(JAR) ## humongous objects of the G1 collector while building and reading; five minutes
	@$(call measure,gc)

.PHONY: bench-shapes
bench-shapes: fetch $(JAR) ## skewed strings, wide decimals, small batches, nesting, nulls, public-like tables; Comet too; six minutes
	@tests/tools/fetch.sh comet 1.2.0
	@$(call measure,shapes) --comet '$(QUIVER_CACHE)/comet-spark-spark4.1_2.13-1.2.0.jar'

.PHONY: clean
clean: ## remove what was built (not the downloads)
	rm -rf build dist java/*/target
