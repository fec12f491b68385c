#!/bin/sh
# Searching with samplers: tables 2 and 3 of Xiang et al. 2023 in form, on data made here.
#
#     tables.sh SUMMARY RETRIEVAL [--quick | --full]      the programs of examples/applications
#
# Summaries: documents of document.awk instead of those of DUC 2002; from each 8 chains choose
# sentences of at most 60 words. F is the objective of Lin & Bilmes 2011 where the chains are after
# 500, 750 and 1000 steps; the summary is the state drawn most often, and ROUGE-2 compares it with
# the document's reference. mana.exp is MANA with a step size that falls exponentially, as in the
# paper (from 1, by e^-3 in 1000 steps); that of mana is adapted. gibbs takes its sites at random.
# ESS is of 1000 steps, the median over the chains.
#
# Images: those of examples/applications, 60 of 6 classes, instead of the Holidays photographs.
set -eu
summary=$1 retrieval=$2
images=$(dirname "$0")/../../applications/images.libsvm
documents=4 queries=6 chains=8
case ${3:-} in
--quick) documents=1 queries=2 chains=2 ;;
--full) documents=60 queries=60 ;;
esac
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export OMP_NUM_THREADS=1

# figure TEXT: the number behind it in what was printed.
figure() {
    sed -n "s/.*$1 \([-+0-9.e]*\).*/\1/p"
}

# choose METHOD: its options, and the steps before the draws that are kept.
choose() {
    warmup=500
    case $1 in
    mana.exp)
        options="--sampler mana:schedule=exponential,decay=3,horizon=1000 --step-size 1"
        warmup=1
        ;;
    gibbs) options="--sampler gibbs:scan=random" ;;
    *) options="--sampler $1" ;;
    esac
}

# summarise DOCUMENT STEPS DRAWS [REFERENCE]: so many kept states after so many steps.
summarise() {
    "$summary" "$1" ${4:+"$4"} --words 60 --beta 0.3 --vote 1 --chains $chains --warmup "$2" \
        --draws "$3" $options
}

# retrieve QUERY STEPS DRAWS [QUERIES]
retrieve() {
    "$retrieval" "$images" --first "$1" --queries "${4:-1}" --chains $chains --warmup "$2" \
        --draws "$3" $options | tail -1
}

# objective BETA COMMAND WHAT: F after 500, 750 and 1000 steps, the mean over the chains.
objective() {
    for steps in 499 749 999; do
        f=$("$2" "$3" $steps 1 | figure 'mean f')
        printf '%s ' "$(echo "$f $1" | awk '{ print $1 / $2 }')"
    done
}

# Numbers of one document: F three times, recall, F-measure, precision, ESS.
document() {
    objective 0.3 summarise "$1.txt"
    summarise "$1.txt" $warmup 1000 "$1.reference.txt" > "$work/out"
    sed -n '/^ROUGE-2/p' "$work/out" > "$work/rouge"
    for key in recall F precision; do
        printf '%s ' "$(figure $key < "$work/rouge")"
    done
    figure ESS < "$work/out"
}

# The means of the columns on stdin, with so many digits.
means() {
    awk -v digits="$1" '{ for (k = 1; k <= NF; k++) sum[k] += $k }
        END { for (k = 1; k in sum; k++) printf " %8." digits "f", sum[k] / NR }'
}

echo "Table 2: $documents documents"
echo "method      F(500)   F(750)  F(1000)  ROUGE-2 R      F        P      ESS"
n=1
while [ $n -le $documents ]; do
    awk -v seed=$n -v sentences=30 -v topics=6 -v reference="$work/$n.reference.txt" \
        -f "$here/document.awk" > "$work/$n.txt"
    n=$((n + 1))
done
for method in mana.exp mana lb gibbs; do
    choose $method
    n=1
    while [ $n -le $documents ]; do
        document "$work/$n"
        n=$((n + 1))
    done > "$work/table"
    printf '%-9s%s\n' $method "$(means 3 < "$work/table")"
done

echo
echo "Table 3: $queries queries"
echo "method      F(500)   F(750)  F(1000)  mean average precision"
for method in mana lb gibbs; do
    choose $method
    n=0
    while [ $n -lt $queries ]; do
        objective 3 retrieve $n
        echo
        n=$((n + 1))
    done > "$work/table"
    precision=$(retrieve 0 500 1000 $queries | figure 'average precision')
    printf '%-9s%s  %s\n' $method "$(means 3 < "$work/table")" "$precision"
done

# SPDX-License-Identifier: MIT
