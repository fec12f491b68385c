# For the papers' check.sh NAME PROGRAM ..: run the brief form of a figure, and look at its numbers.
set -eu
name=$1 program=$2
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

# draw [ARGUMENT ..]: keep and print the program's output; the figure is whole.
draw() {
    output=$("$program" --quick --svg "$directory/figure.svg" "$@")
    echo "$output"
    grep -q '</svg>' "$directory/figure.svg"
}

# holds CONDITION: in awk, of the numbers v[ROW, COLUMN] of the rows from the line that begins with
# $from to the next empty one, or of all rows; rows[ROW] counts them, and the last one's numbers
# are kept. A row's name is its first word, or its first $words words.
from= words=1
holds() {
    echo "$output" | awk -v from="$from" -v words="$words" '
        from == "" || index($0, from) == 1 { on = 1 }
        NF == 0 || $1 == "after" { on = 0 }
        on {
            gsub(/[|()*]/, " ")
            row = $1
            for (k = 2; k <= words; k++) row = row " " $k
            for (k = words + 1; k <= NF; k++) v[row, k - words] = $k
            rows[row]++
        }
        END { exit !('"$1"') }' || { echo "not so: $1"; exit 1; }
}

# SPDX-License-Identifier: MIT
