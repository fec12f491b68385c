#!/bin/sh
# check_check.sh CHECK.SH: it passes what it should, and fails what it should.
set -eu
check=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cat >"$directory/expected" <<END
mean 23.10, -0.50 and 1.0e-03  (a note)
ESS 100 of ncg
source lesson.c:3, zero 0, second 2
ran for 3.5 seconds

sampler  ESS/s  R-hat
gwg      12000  1.01
END
failures=0

# try EXPECTED-STATUS TOLERANCES SED-EDIT WHAT
try() {
    status=0
    sed "$3" "$directory/expected" >"$directory/output"
    sh "$check" "$directory/expected" "$2" cat "$directory/output" >"$directory/log" || status=$?
    [ $status = "$1" ] || { echo "wrong: $4"; cat "$directory/log"; failures=$((failures + 1)); }
}
try 0 0.01 '' 'the same'
try 0 0.01 's/  */ /g' 'spaces'
try 0 0.01 's/ lesson/ here\/examples\/lesson/' 'where a source file lies'
try 0 0.01 's/ lesson/ here-0.2.0\/examples\/lesson/' 'numbers in the path of a source file'
try 0 0.01 's/zero 0/zero -5.55e-17/' 'what rounding leaves of a zero'
try 0 0.01 's/23.10/23.20/' 'within the tolerance'
try 0 0.01 's/0.50/0.51/' 'one unit in the last digit'
try 0 0.01 's/3.5 s/9 s/; s/12000/7.1e+04/' 'times and rates'
try 0 '0.01 ESS=0.5' 's/100/70/' 'a tolerance of its own'
try 0 '0.01 for=0.1' 's/3.5 s/9 s/' 'times, whatever else is on the line'
try 0 '0.01 mean=any' 's/23.10/99/' 'any number'
try 0 '0.01 mean=other' 's/mean.*/none/' 'any words'
try 1 '0.01 ESS=other' 's/mean.*/none/' 'other words on another line'
try 1 '0.01 R-hat=other gwg=other' '$d' 'a missing line of any words'
try 1 0.01 's/23.10/23.50/' 'a wrong number'
try 1 0.01 's/-0.50/0.50/' 'a wrong sign'
try 1 0.01 's/1.0e-03/1.0e-04/' 'a wrong exponent'
try 1 0.01 's/1.01/1.31/' 'a wrong number beside a rate'
try 1 0.01 's/12000/nan/' 'a rate that is none'
try 1 '0.01 ESS=0.5' 's/100/30/' 'outside its own tolerance'
try 1 0.01 's/100/nan/' 'no number'
try 1 0.01 's/second 2/second 9/' 'a second that is no time'
try 1 0.01 's/note/nota/' 'a wrong word'
try 1 0.01 '$d' 'a missing line'
try 1 0.01 '$p' 'a line too many'
status=0
sh "$check" "$directory/expected" 0 sh -c "cat '$directory/expected'; exit 3" \
    >"$directory/log" || status=$?
[ $status = 1 ] || { echo "wrong: a lesson that fails"; failures=$((failures + 1)); }
status=0
sh "$check" "$directory/expected" 0 sh -c 'exit 77' >"$directory/log" || status=$?
[ $status = 77 ] || { echo "wrong: a lesson that is skipped"; failures=$((failures + 1)); }
status=0
sh "$check" "$directory/expected" 0 no-such-program >"$directory/log" || status=$?
[ $status = 77 ] || { echo "wrong: a program that is not there"; failures=$((failures + 1)); }
exit $failures

# SPDX-License-Identifier: MIT
