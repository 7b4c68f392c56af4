# For those who type `make`. Meson does the work: build/ is an ordinary Meson build directory.
BUILD ?= build
PREFIX ?= /usr/local
NINJA = ninja -C $(BUILD)

all: $(BUILD)/build.ninja
	$(NINJA) program

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || { echo "meson or ninja is missing: 'make setup' installs what the build needs" >&2; exit 1; }
	meson setup --prefix=$(abspath $(PREFIX)) $(BUILD)

# Installs the Debian packages that are missing, as root or through sudo.
setup:
	scripts/setup build run

demo: setup
	$(MAKE) all
	scripts/demo $(BUILD)

# What must hold at every commit, plain and under the sanitizers, in some ten minutes on two cores; test-all also runs the long
# cases, and all of them under the sanitizers: up to an hour.
test-all: ALL = --all
test test-all:
	scripts/setup build run test
	$(MAKE) all
	tests/run $(ALL) $(BUILD)

# Rewrites the expected texts; review the difference before committing it.
golden: $(BUILD)/build.ninja
	$(NINJA)
	BUILD=$(BUILD) tests/golden/run --rewrite

# Writes the timing models' fingerprints anew, and says which recorded streams moved and by how much.
fingerprints: all
	BUILD=$(BUILD) tests/fingerprints/run --rewrite

bench:
	scripts/setup build run test bench
	$(MAKE) all
	tests/bench.py $(BUILD)

# The models against the processor this runs on: on two quiet cores some 9 minutes of measuring, then 20 to 25 of modelling.
# ACCURACY='--core zen4 --only gemm': options of it.
accuracy:
	scripts/setup build run test bench
	$(MAKE) all
	accuracy/accuracy.py $(ACCURACY) $(BUILD)

# The papers' figures, ours beside theirs: pages into docs/papers, drawings into $(BUILD)/papers; an hour or more. PAPERS='--only tea': options of it.
papers:
	scripts/setup build run test bench papers
	$(MAKE) all
	papers/papers.py $(PAPERS) $(BUILD)

install: $(BUILD)/build.ninja
	meson configure --prefix=$(abspath $(PREFIX)) $(BUILD)
	$(NINJA) program
	DESTDIR=$(DESTDIR) meson install --no-rebuild -C $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize

.PHONY: all setup demo test test-all golden fingerprints bench accuracy papers install clean
