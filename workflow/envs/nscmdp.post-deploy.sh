#!/usr/bin/env bash
# Snakemake runs this in the new environment, in the folder that it works in: the project's.
set -euo pipefail
python -m pip install --quiet --no-deps .
