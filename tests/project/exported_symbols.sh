#!/bin/sh
# SPDX-License-Identifier: MIT
# exported_symbols.sh LIBRARY INCLUDE_DIR: the shared library exports what two lists beside this file
# name. exported_symbols.txt has the functions of saltus.h, at most 225 of them; program_symbols.txt
# those of program.h and figure.h, which saltus.h does not include and which may change in any
# version. After adding a public function, add it to its list (sorted, LC_ALL=C).
set -eu
command -v nm >/dev/null || exit 77
here=$(cd "$(dirname "$0")" && pwd)
library=$(realpath "$1")
stable=$here/exported_symbols.txt
program=$here/program_symbols.txt
most=225

# The functions that headers declare.
declared()
{
    cat "$@" | awk '
        /^SAL_API/ { begun = 1; text = "" }
        begun {
            text = text " " $0
            if (match(text, /sal_[a-z0-9_]*\(/)) {
                print substr(text, RSTART, RLENGTH - 1)
                begun = 0
            }
        }' | LC_ALL=C sort
}

same()
{
    printf '%s\n' "$2" | diff -u "$1" - || { echo "^ $3"; exit 1; }
}

cd "$2"
same "$program" "$(declared program.h figure.h)" "program.h and figure.h declare others"
others=$(ls ./*.h | grep -v -e program.h -e figure.h)
same "$stable" "$(declared $others)" "the headers of saltus.h declare others"
if grep -n -e '<saltus/program.h>' -e '<saltus/figure.h>' $others; then
    echo "^ saltus.h includes a header that is not part of it"
    exit 1
fi
if [ "$(wc -l <"$stable")" -gt "$most" ]; then
    echo "saltus.h has $(wc -l <"$stable") functions; expected at most $most"
    exit 1
fi

# What sanitizers add does not count.
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^__\(odr_asan\|asan\)' |
           LC_ALL=C sort)
both=$(mktemp)
trap 'rm -f "$both"' EXIT
cat "$stable" "$program" | LC_ALL=C sort >"$both"
same "$both" "$exported" "the library exports others"
