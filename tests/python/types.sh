#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# types.sh SOURCE_DIR PACKAGE_DIR CACHE_DIR PYTHON: mypy has nothing to say of the package as it is built, of the
# lessons in Python, and of typed_use.py, which asserts the types that a user sees.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
source=$1 package=$2 cache=$3
for python in "$4" /usr/bin/python3 ''; do # Debian's packages, where another Python comes first
    "${python:-false}" -c 'import mypy, numpy, torch' 2>/dev/null && break
done
[[ $python ]] || skip "no Python has mypy, numpy and torch; the types of the package for Python were not checked"

[[ -f $package/saltus/py.typed ]] || { echo "FAILED: without $package/saltus/py.typed types are not used"; exit 1; }
MYPYPATH=$package "$python" -m mypy --config-file "$source/tests/python/mypy.ini" --cache-dir "$cache" \
    "$package/saltus" "$source"/examples/python/*.py "$source/tests/python/typed_use.py"
