#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libmatio reads a MAT-file of version 5 that was cut, as by an interrupted download, as one that ends
# in zeros: Mat_VarReadDataAll returns 0. A program cannot tell such numbers from those of a whole file.
#
# Seen with Debian 12: libmatio11 1.5.23-2+deb12u1. The packages are unpacked in a temporary folder.
# Needs gcc. Exits with 1 if the behaviour has changed.
set -euo pipefail
version=1.5.23-2+deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

mkdir -p debs/partial root
apt-get -q -y -o Dir::State::status=/dev/null -o Dir::Cache::archives="$folder/debs/" \
    -o Debug::NoLocking=1 --no-install-recommends --download-only install \
    "libmatio-dev=$version" "libmatio11=$version" >apt.log 2>&1
for deb in debs/*.deb; do
    dpkg-deb -x "$deb" root
done
cat >read.c <<'END'
#include <matio.h>
#include <stdio.h>

int main(int n, char **words)
{
    mat_t *file = n == 2 ? Mat_Open(words[1], MAT_ACC_RDONLY) : NULL;
    matvar_t *x = file ? Mat_VarReadInfo(file, "x") : NULL;
    if (!x || Mat_VarReadDataAll(file, x) != 0) {
        puts("refused");
        return 0;
    }
    const unsigned char *bytes = x->data;
    printf("read, the last is %d\n", bytes[x->dims[0] * x->dims[1] - 1]);
    Mat_VarFree(x);
    Mat_Close(file);
    return 0;
}
END
libraries=root/usr/lib/x86_64-linux-gnu
gcc -Iroot/usr/include read.c -o read "$libraries"/libmatio.so.11 -Wl,--allow-shlib-undefined
run() { LD_LIBRARY_PATH=$libraries:root/lib/x86_64-linux-gnu ./read "$1"; }

# x = uint8(7 * ones(1, 800)): a header, then one matrix of flags, dimensions, a name and numbers.
{
    printf 'MATLAB 5.0 MAT-file%97s\0\0\0\0\0\0\0\0\0\1IM' ''
    printf '\16\0\0\0\130\3\0\0\6\0\0\0\10\0\0\0\11\0\0\0\0\0\0\0\5\0\0\0\10\0\0\0\1\0\0\0\40\3\0\0'
    printf '\1\0\1\0x\0\0\0\2\0\0\0\40\3\0\0'
    head -c 800 /dev/zero | tr '\0' '\7'
} >whole.mat
head -c 500 whole.mat >cut.mat
echo "libmatio $version"
whole=$(run whole.mat) cut=$(run cut.mat)
printf 'whole: %s\ncut:   %s\n' "$whole" "$cut"
[[ $whole == "read, the last is 7" && $cut == "read, the last is 0" ]] || { echo "this has changed"; exit 1; }
