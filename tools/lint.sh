#!/usr/bin/env bash
# Runs every check of the sources, also after one has failed: lint.sh BUILD_FOLDER
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
status=0
check() {
  local start=$SECONDS outcome=passed
  "${@:2}" || { outcome=failed; status=1; }
  echo "lint: $1 $outcome in $((SECONDS - start)) s"
}
check "layers, lengths and texts" .venv/bin/python tools/check_layers.py
check "ruff" .venv/bin/ruff check --quiet .
check "the format of Python files" .venv/bin/ruff format --quiet --check .
check "the format of C++ files" tools/check_cpp_format.sh
check "mypy" .venv/bin/mypy --no-error-summary
check "clang-tidy" .venv/bin/python tools/lint_cpp.py "$build"
exit $status
