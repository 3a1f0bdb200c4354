#!/usr/bin/env bash
# Whether clang-format would leave every C++ file as it is; prints what it would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files -z '*.cpp' '*.h' | xargs -0 -P "$(nproc)" -n 40 clang-format-22 --dry-run -Werror
