#!/bin/sh
# refusals.sh SUMMARY RETRIEVAL CONTACTS SEARCH: what a program cannot use ends it with a message.
set -eu
summary=$(realpath "$1") retrieval=$(realpath "$2") contacts=$(realpath "$3") search=$(realpath "$4")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# refuses TEXT COMMAND..: it fails and says TEXT on stderr.
refuses() {
    text=$1
    shift
    if "$@" >out 2>err; then
        echo "FAILED: not refused: $*"
        exit 1
    fi
    grep -qF -- "$text" err || { echo "FAILED: $*: no '$text' in"; cat err; exit 1; }
}

echo "Bako limu tor zan vun kel dar mip hun fol gam." >long.txt
echo "The. And it is not. Of the." >stops.txt
printf '1 1:0 2:1 3:1 4:0\n2 1:1 2:0 3:0 4:1\n' >two.libsvm
printf '1 1:0 2:1 3:1 4:0\n2 1:0 2:1 3:1 4:0\n' >same.libsvm
printf '1,0,0,1\n0,1,1,0\n' >table.csv
refuses "usage: summary" "$summary"
refuses "usage: summary" "$summary" long.txt --words 0
refuses "usage: summary" "$summary" --score long.txt
refuses "every sentence is longer" "$summary" long.txt --words 10
refuses "other than stop words" "$summary" stops.txt
refuses "expected plain text" "$summary" no.txt
refuses "no sampler 'none'" "$summary" long.txt --sampler none
refuses "usage: retrieval" "$retrieval"
refuses "usage: retrieval" "$retrieval" two.libsvm --queries 0
refuses "the queries among them" "$retrieval" two.libsvm
refuses "without classes" "$retrieval" table.csv --queries 1
refuses "all pictures are the same" "$retrieval" same.libsvm --queries 1
refuses "usage: contacts" "$contacts" ising --top 0
refuses "no couplings of sites" "$contacts" ising
refuses "no couplings of sites" "$contacts" ising-dense
refuses "usage: search" "$search"
refuses "usage: search" "$search" max-cut --graphs many
refuses "no model or file 'nothing'" "$search" nothing
"$retrieval" two.libsvm --queries 1 --draws 10 >out
grep -q '^means' out

# SPDX-License-Identifier: MIT
