#!/bin/sh
# SPDX-License-Identifier: MIT
# exported_symbols.sh LIBRARY LIST: the shared library exports exactly the symbols of the list.
# After adding a public function, add it to the list too (sorted, LC_ALL=C).
set -eu
command -v nm >/dev/null || exit 77
# What sanitizers add does not count.
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | grep -v '^__\(odr_asan\|asan\)' |
           LC_ALL=C sort)
printf '%s\n' "$exported" | diff -u "$2" -
