#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# wheel.sh PYTHON PROGRAM SOURCE_DIR VERSION: `pip wheel` without a network makes a wheel of this source tree; in
# a fresh virtual environment it brings the package, the library and the program, and tests pass there.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
python=$1 program=$2 source=$3 version=$4
"$python" -c 'import mesonpy, pip, venv, ensurepip' 2>/dev/null ||
    skip "$python has no meson-python, pip or venv (Debian: python3-mesonpy, python3-pip, python3-venv)"
make_folder

# A copy: meson-python leaves a file in the source tree, and pip may not write to this one.
mkdir "$folder/source"
tar -C "$source" --exclude='./build*' --exclude=./.git --exclude=./demo-out -c . | tar -x -C "$folder/source"
(cd "$folder/source" && "$python" -m pip wheel --no-build-isolation --no-deps --wheel-dir "$folder" .) \
    >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
mv "$folder/source" "$folder/moved" # the wheel must not need it

# NumPy is the system's.
"$python" -m venv --system-site-packages "$folder/env"
"$folder/env/bin/pip" install --quiet --no-index --no-deps "$folder"/saltus-*.whl
unset PYTHONPATH SALTUS_LIBRARY LD_LIBRARY_PATH
cd /
in_env() {
    "$folder/env/bin/$1" "${@:2}"
}

[[ $(in_env python -c 'import importlib.metadata as m; print(m.version("saltus"))') == "$version" ]] ||
    fail "importlib.metadata does not say version $version"
library=$(in_env python -c 'import saltus; print(saltus._library.lib._name)')
[[ $library == "$folder"/env/*/saltus/libsaltus.so.0 ]] || fail "the package loads $library"
draws=(sample ising:side=4,theta=0.2 --draws 200 --seed 1 --json)
# Times differ from run to run.
without_times() {
    "$@" | sed -E 's/"[a-z_]*(second|time)[a-z_]*": *[^,}]*//g'
}
expected=$(without_times "$program" "${draws[@]}")
for command in "saltus" "python -m saltus"; do
    # A command is one or three words.
    # shellcheck disable=SC2086
    [[ $(without_times in_env $command "${draws[@]}") == "$expected" ]] || fail "$command draws otherwise"
done
ends 64 "unknown command 'frob'" in_env python -m saltus frob
for test in package model formula run; do
    SALTUS_SOURCE_DIR=$folder/moved SALTUS_PROGRAM=$folder/env/bin/saltus PYTHONDONTWRITEBYTECODE=1 \
        in_env python "$source/tests/python/test_$test.py" >"$folder/log" 2>&1 ||
        { cat "$folder/log"; fail "test_$test.py in the virtual environment"; }
done

in_env pip uninstall --quiet --yes saltus
left=$(find "$folder/env" -name '*saltus*')
[[ -z $left ]] || fail "left after pip uninstall: $left"
finish
