#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cplusplus.sh BUILD_DIR SOURCE_DIR SANITIZE: the public headers serve programs of C++17, without
# warnings, with each compiler that is there.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
build=$1 source=$2 sanitize=$3
make_folder

tried=0
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    flags=(-std=c++17 -Wall -Wextra -pedantic -Werror "-I$source/include" "$source/tests/project/cplusplus.cc")
    # A sanitized library wants programs that are sanitized, too.
    if [[ $sanitize == none ]]; then
        "$compiler" "${flags[@]}" -o "$folder/program" -L"$build/src" -lsaltus
        LD_LIBRARY_PATH=$build/src "$folder/program" || fail "$compiler: the program failed"
    else
        "$compiler" "${flags[@]}" -fsyntax-only
    fi
    tried=$((tried + 1))
done
((tried > 0)) || skip "no compiler of C++ is there"
finish
