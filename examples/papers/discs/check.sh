#!/bin/sh
# check.sh NAME PROGRAM: the brief form shows what README.md says of it.
. "$(dirname "$0")/../claims.sh"
output=$("$2" --quick)
echo "$output"
