#!/bin/sh
# check.sh EXPECTED TOLERANCES COMMAND..: run a lesson in an empty directory and compare what it
# prints with the file EXPECTED, word by word, numbers within relative tolerances:
#
#     0.02 ESS=0.3 R-hat=any    2%; 30% on lines with the text ESS; on those with R-hat any number
#     NOT=other                 lines where NOT is expected may have any words and numbers
#
# Of several such texts on a line the last one counts. One unit in the last digit is always allowed.
# (The same seed gives the same bits on one type of machine only.) Times, rates and threads differ
# from run to run: any number will do on lines with the texts "seconds", "per second" or "threads",
# and under a word that ends in "/s" or "[s]", to the next empty line. Where the directory examples/
# lies does not count.
set -eu
expected=$(realpath "$1") tolerances=$2
shift 2
program=$(command -v "$1") || { echo "skipped: there is no $1"; exit 77; }
program=$(realpath -s "$program")
shift
here=$(pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
code=0
"$program" "$@" >output || code=$?
cd "$here"
cat "$directory/output"
[ $code = 77 ] && exit 77 # the lesson says that what it needs is not there
[ $code = 0 ] || { echo "FAILED: exit status $code"; exit 1; }

LC_ALL=C awk -v tolerances="$tolerances" '
    # The words of a line, with # for numbers; these in value[1..n], a unit of their last digits
    # in unit[1..n].
    function words(line, value, unit,    text, before, number, digits) {
        # A source file, from where it was compiled; there may be numbers in its path.
        gsub(/[^ ]*\/examples\/|examples\//, "", line)
        text = ""
        n = 0
        while (match(line, /[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) {
            before = substr(line, 1, RSTART - 1)
            number = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            value[++n] = number + 0
            digits = number
            sub(/[eE].*/, "", digits)
            unit[n] = index(digits, ".") ? 10 ^ -(length(digits) - index(digits, ".")) : 1
            if (number ~ /[eE]/) {
                sub(/.*[eE]/, "", number)
                unit[n] *= 10 ^ number
            }
            if (before ~ /(^|[ (=,:|[])-$/) { # a sign, not a hyphen
                sub(/-$/, "", before)
                value[n] = -value[n]
            }
            text = text before "#"
        }
        text = text line
        gsub(/[ \t]+/, " ", text)
        gsub(/ threads/, " thread", text)
        sub(/^ /, "", text)
        sub(/ $/, "", text)
        return text
    }
    function tolerance(line,    k, parts, result) {
        if (line ~ /seconds|per second|threads/) {
            return "any"
        }
        result = 0
        for (k = 1; k <= rules; k++) {
            split(rule[k], parts, "=")
            if (parts[2] == "") {
                result = parts[1]
            } else if (index(line, parts[1])) {
                result = parts[2]
            }
        }
        return result
    }
    # Which words of the lines below a heading are rates or times.
    function headings(line,    k, m, word) {
        m = split(line, word, " ")
        if (m == 0) {
            split("", rate)
        }
        for (k = 1; k <= m; k++) {
            if (word[k] ~ /(\/s|\[s\])$/) {
                rate[k] = 1
            }
        }
    }
    # Put one name for the numbers in these columns.
    function mask(line,    k, m, word, text) {
        m = split(line, word, " ")
        text = ""
        for (k = 1; k <= m; k++) {
            text = text " " (k in rate && word[k] ~ /[0-9]/ ? "RATE" : word[k])
        }
        return text
    }
    function complain(what) {
        printf "%s, line %d:\n  expected  %s\n  printed   %s\n", what, line, wanted, found
        bad++
    }
    BEGIN {
        # Plain tolerances first: those for texts go before them.
        m = split(tolerances, all, " ")
        for (k = 1; k <= m; k++) if (all[k] !~ /=/) rule[++rules] = all[k]
        for (k = 1; k <= m; k++) if (all[k] ~ /=/) rule[++rules] = all[k]
    }
    FNR == NR { expected[NR] = $0; lines = NR; next }
    { printed[FNR] = $0; other = FNR }
    END {
        for (line = 1; line <= lines || line <= other; line++) {
            wanted = line in expected ? expected[line] : "(nothing)"
            found = line in printed ? printed[line] : "(nothing)"
            if (tolerance(wanted) == "other" && line in printed && found != "") {
                continue
            }
            headings(wanted)
            if (words(mask(wanted), a, unit) != words(mask(found), b, other_unit)) {
                complain("words")
                continue
            }
            within = tolerance(wanted)
            for (k = 1; k <= n; k++) {
                if (within == "any") {
                    continue
                }
                compared++
                difference = a[k] > b[k] ? a[k] - b[k] : b[k] - a[k]
                size = a[k] * a[k] > b[k] * b[k] ? a[k] : b[k]
                size = size < 0 ? -size : size
                if (difference > within * size && difference > 1.01 * unit[k] &&
                    difference > 1e-12) { # what rounding leaves of a zero
                    complain("number " k)
                    break
                }
            }
        }
        printf "%d lines, %d numbers compared, %d lines differ\n", lines, compared, bad
        exit bad > 0 || lines == 0
    }' "$expected" "$directory/output"

# SPDX-License-Identifier: MIT
