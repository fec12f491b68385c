#!/bin/sh
# SPDX-License-Identifier: MIT
# fetches.sh LIBRARY: the calls of sali_fetch (core/vector/fetch.h) are in the library. A compiler
# that drops them changes nothing but the time of steps on large models, which no other test sees.
set -eu
command -v objdump >/dev/null || exit 77
case $(objdump -f "$1") in
*x86-64*) fetch=prefetch ;;
*aarch64*) fetch=prfm ;;
*) exit 77 ;;
esac
objdump -d "$1" | grep -q "$fetch" || { echo "$1 fetches nothing ahead"; exit 1; }
