#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# in_place.sh BUILD_DIR SOURCE_DIR: scripts/demo builds what the README then uses where it is: the program, the
# library under all its names, and every module of the package for Python.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
build=$1 source=$2

# The script's own words, not this one's variables.
# shellcheck disable=SC2016
grep -q '^compile "$build" in-place$' "$source/scripts/demo" || fail "scripts/demo does not build 'in-place'"
made=$(ninja -C "$build" -t query in-place 2>/dev/null | sed 's/^ *|* *//') || fail "there is no target 'in-place'"

# makes FILE
makes() {
    grep -qxF "$1" <<<"$made" || fail "in-place does not make $1"
}
for folder in $(sed -n 's/^ *\$ export //p' "$source/README.md" | grep -o '\$PWD/build/[^: ]*'); do
    folder=${folder#\$PWD/build/}
    case $folder in
    src/cli) makes src/cli/saltus ;;
    src) makes "$(readlink -f "$build/src/libsaltus.so" | sed "s|^$build/||")" ;;
    python)
        [[ -d $build/python/saltus ]] || continue
        for module in "$source"/python/saltus/*.py; do
            makes "python/saltus/$(basename "$module")"
        done
        ;;
    meson-uninstalled) [[ -f $build/$folder/saltus-uninstalled.pc ]] || fail "there is no $folder/saltus-uninstalled.pc" ;;
    *) fail "the README uses build/$folder, of which this test knows nothing" ;;
    esac
done

finish
