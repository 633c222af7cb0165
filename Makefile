# `make` reproduces the paper, `make test` tests the project; each sets everything up by itself.
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
SEARCH := $(CURDIR)/.venv/bin:$(PATH)
IN_VENV := PATH="$(SEARCH)"
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SLURM := slurmctld slurmd slurm-client munge
CHROMIUM := chromium fonts-dejavu-core
LOCK := $(IN_VENV) uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --quiet
# uv reads no pip.conf: where that alone says where packages are, pip installs them.
install = .venv/bin/uv pip install --python .venv --quiet $(1) || .venv/bin/python -m pip install --quiet $(1)
SUITE := runs scores pairs paired hypotheses ranking stability
FRAMES := hypotheses ranking
SNAKEMAKE := $(IN_VENV) snakemake --cores $(CORES)

# uv installs no bytecode: what is imported first is compiled then, and must be kept.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := reproduce
.PHONY: reproduce setup lock verify test test-all test-page test-slurm lint format bench readme long suite search clean

reproduce: setup  ## simulations, tables, notebooks, figures and the page
	$(SNAKEMAKE) $(ARGS)
	@echo "Open $(CURDIR)/results/index.html"

verify: setup  ## are the results at hand those that the repository states?
	$(IN_VENV) wei2023 verify results

setup: .venv/.complete  ## a virtual environment from the hash-locked requirements

.venv/.complete: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo "Python 3.11, 3.12 or 3.13 is needed: make PYTHON=python3.12"; exit 1; }
	rm -rf .venv
	$(PYTHON) -m venv .venv
	awk '/^[^ ]/ { wanted = /^uv==/ } wanted' requirements.lock > .venv/uv.lock
	.venv/bin/python -m pip install --quiet --require-hashes -r .venv/uv.lock
	$(call install,--require-hashes -r requirements.lock)
	$(call install,--no-deps --no-build-isolation --editable .)
	@touch $@

lock:  ## pin again after a change in pyproject.toml
	$(LOCK) --extra dev pyproject.toml -o requirements.lock
	$(LOCK) --group page --constraint requirements.lock -o tests/page/requirements.lock
	$(PYTHON) workflow/scripts/conda_environment.py

test: setup  ## what every change must pass; under ten minutes on two cores
	$(IN_VENV) python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder -m "not slow and not release" $(ARGS)

test-all: setup  ## the slow checks, those of what is committed from a run and those of the page in a browser, too
	$(IN_VENV) python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder $(ARGS)
	$(MAKE) test-page

test-page: setup .venv/.page  ## the page in Chromium; RESULTS=results: that of a finished run; SCREENSHOTS=folder: pictures
	@command -v chromium >/dev/null || { command -v apt-get >/dev/null && $(AS_ROOT) apt-get update -qq && \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(CHROMIUM); } \
		|| { echo "make test-page needs a browser, and apt-get could install none: put chromium on the PATH"; exit 1; }
	$(IN_VENV) python -m pytest tests/page $(if $(RESULTS),--results $(RESULTS)) $(if $(SCREENSHOTS),--screenshots $(SCREENSHOTS)) $(ARGS)

.venv/.page: .venv/.complete tests/page/requirements.lock
	$(call install,--require-hashes -r tests/page/requirements.lock)
	@touch $@

test-slurm: setup  ## on a real Slurm of two nodes on this machine: Debian or Ubuntu, as root or with sudo
	@command -v apt-get >/dev/null || { echo "make test-slurm installs Slurm with apt-get: it needs Debian or Ubuntu"; exit 1; }
	@dpkg -s $(SLURM) >/dev/null 2>&1 || { $(AS_ROOT) apt-get update -qq && \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(SLURM); }
	$(IN_VENV) python -m pytest tests/slurm $(ARGS)

lint: setup
	$(IN_VENV) ruff check .
	$(IN_VENV) ruff format --check .
	$(IN_VENV) mypy
	$(IN_VENV) snakefmt --check Snakefile workflow
	$(IN_VENV) snakemake --lint

format: setup
	$(IN_VENV) ruff check --fix .
	$(IN_VENV) ruff format .
	$(IN_VENV) snakefmt Snakefile workflow

bench: setup  ## our kernels beside C, Python and HiGHS, and what surrounds them, in one run
	$(IN_VENV) python -m benchmarks $(ARGS)

readme: setup  ## put the answer of the results at hand into the README, and what else of them is kept in docs/
	cp results/answer.json docs/answer.json
	cp results/tables/deviations.csv docs/deviations_effects.csv
	cp results/deviations.md docs/deviations.md
	cp results/figures/grid_world.png docs/grid_world.png
	cp results/figures/eta.png docs/eta.png
	cp results/claims.md docs/claims.md
	cp results/erratum.md docs/erratum.md
	$(IN_VENV) wei2023 job readme docs/answer.json
	$(IN_VENV) wei2023 verify results --update

long: setup  ## the protocols beyond K = 1,000,000, their tables into docs/long: about ten minutes on two cores
	$(SNAKEMAKE) --configfile workflow/presets/long.yaml $(ARGS)
	mkdir -p docs/long
	cp long/tables/protocols.csv long/tables/choices.csv docs/long

suite: setup  ## the whole suite, again with longer frames, and what they came to into docs/suite and the README
	$(SNAKEMAKE) --configfile workflow/presets/suite.yaml $(ARGS)
	$(SNAKEMAKE) --configfile workflow/presets/suite.yaml workflow/presets/suite_frames.yaml $(ARGS)
	cp $(SUITE:%=suite/tables/suite_%.csv) docs/suite
	cp $(FRAMES:%=suite_frames/tables/suite_%.csv) docs/suite/frames
	$(IN_VENV) wei2023 job summary docs/suite
	$(IN_VENV) wei2023 verify suite --reference docs/suite/reference.json --update

search: setup  ## the deep searches again, into workflow/searches: about six hours on two cores; resumable
	$(SNAKEMAKE) searched --configfile workflow/presets/search.yaml $(ARGS)
	$(IN_VENV) wei2023 job record searched --output workflow/searches
	$(SNAKEMAKE) searched --configfile workflow/presets/search.yaml workflow/presets/suite.yaml \
		workflow/presets/suite_frames.yaml --config results=searched_frames $(ARGS)
	$(IN_VENV) wei2023 job record searched_frames --output workflow/searches

clean:  ## forget the results, keep the environment
	rm -rf results .snakemake
