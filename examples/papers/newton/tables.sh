#!/bin/sh
# Searching with samplers: tables 2 and 3 of Xiang et al. 2023 in form, on data made here.
#
#     tables.sh SUMMARY RETRIEVAL [--quick | --full]      the programs of examples/applications
#
# Summaries: documents of document.awk instead of those of DUC 2002; from each 8 chains choose
# sentences of at most 60 words. F is the objective of Lin & Bilmes 2011 where the chains are after
# 500, 750 and 1000 steps; the summary is the state drawn most often, and ROUGE-2 compares it with
# the document's reference. ESS is of 1000 steps, the median over the chains.
#
# Images: those of examples/applications, 60 of 6 classes, instead of the Holidays photographs.
#
# printed    MANA with slopes of f = -inf beyond the limit, and a step size that falls
#            exponentially (from 1, by e^-3 in 1000 steps)
# kept       the same slopes, the step size adapted
# mana       slopes of f without its limit, the step size adapted
# most       the same, at most two changes a step
# soft       slopes as well, with a penalty of .5 for each word, or 1 for each image, beyond the limit
#            in place of the limit; F counts the penalty
# gibbs      sites at random
#
# Means over documents or queries, each with random numbers of its own, their standard errors, and
# the means of what a document or query has more than with lb, with standard errors.
set -eu
summary=$1 retrieval=$2
images=$(dirname "$0")/../../applications/images.libsvm
documents=60 queries=24 chains=8
case ${3:-} in
--quick) documents=2 queries=3 chains=2 ;;
--full) documents=400 queries=60 ;;
esac
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
methods="lb gibbs printed kept mana most soft"

export OMP_NUM_THREADS=1

# choose METHOD PENALTY: its options, and the steps before the draws that are kept.
choose() {
    warmup=500
    case $1 in
    printed)
        options="--sampler mana:limits=kept,schedule=exponential,decay=3,horizon=1000 --step-size 1"
        warmup=1
        ;;
    kept) options="--sampler mana:limits=kept" ;;
    most) options="--sampler mana:most=2" ;;
    soft) options="--sampler mana --penalty $2" ;;
    gibbs) options="--sampler gibbs:scan=random" ;;
    *) options="--sampler $1" ;;
    esac
}

# figure TEXT: the number behind it in what was printed.
figure() {
    sed -n "s/.*$1 \([-+0-9.e]*\).*/\1/p"
}

# summarise N STEPS DRAWS [REFERENCE]: so many kept states of document N after so many steps.
summarise() {
    "$summary" "$work/$1.txt" ${4:+"$4"} --words 60 --beta 0.3 --vote 1 --chains $chains \
        --seed "$1" --warmup "$2" --draws "$3" $options
}

# Numbers of document N: F three times, recall, F-measure, precision, ESS.
document() {
    for steps in 499 749 999; do
        f=$(summarise "$1" $steps 1 | figure 'mean f')
        printf '%s ' "$(echo "$f" | awk '{ print $1 / 0.3 }')"
    done
    summarise "$1" $warmup 1000 "$work/$1.reference.txt" > "$work/out"
    sed -n '/^ROUGE-2/p' "$work/out" > "$work/rouge"
    for key in recall F precision; do
        printf '%s ' "$(figure $key < "$work/rouge")"
    done
    figure ESS < "$work/out"
}

# answer QUERY STEPS DRAWS WHAT: that number of a query.
answer() {
    "$retrieval" "$images" --first "$1" --queries 1 --seed "$1" --chains $chains --warmup "$2" \
        --draws "$3" $options | tail -1 | figure "$4"
}

# Numbers of one query: F three times, average precision.
query() {
    for steps in 499 749 999; do
        printf '%s ' "$(answer "$1" $steps 1 'mean f' | awk '{ print $1 / 3 }')"
    done
    answer "$1" $warmup 1000 'average precision'
}

# spread DIGITS WHAT: means of the columns on stdin, or their standard errors.
spread() {
    awk -v digits="$1" -v what="$2" '
        { for (k = 1; k <= NF; k++) { sum[k] += $k; square[k] += $k * $k } n = NF }
        END {
            for (k = 1; k <= n; k++) {
                mean = sum[k] / NR
                rest = square[k] - NR * mean * mean
                error = NR > 1 ? sqrt((rest > 0 ? rest : 0) / (NR - 1) / NR) : 0
                printf " %8." digits "f", what == "mean" ? mean : error
            }
            print ""
        }'
}

# less FILE: the columns on stdin less those of a file.
less() {
    paste - "$1" | awk '{ for (k = 1; k <= NF / 2; k++) printf "%s ", $k - $(k + NF / 2); print "" }'
}

# print_table TITLE: means, standard errors and differences of the tables of all methods.
print_table() {
    for what in mean error; do
        echo "$1, $([ $what = mean ] && echo means || echo standard errors)"
        for method in $methods; do
            printf '%-9s%s\n' $method "$(spread 3 $what < "$work/table.$method")"
        done
        echo
    done
    for what in mean error; do
        echo "$1, more than lb, $([ $what = mean ] && echo means || echo standard errors)"
        for method in $methods; do
            printf '%-9s%s\n' $method \
                "$(less "$work/table.lb" < "$work/table.$method" | spread 3 $what)"
        done
        echo
    done
}

echo "Table 2: $documents documents"
echo "columns: F(500), F(750), F(1000), ROUGE-2 R, F, P, ESS"
n=1
while [ $n -le $documents ]; do
    awk -v seed=$n -v sentences=30 -v topics=6 -v reference="$work/$n.reference.txt" \
        -f "$here/document.awk" > "$work/$n.txt"
    n=$((n + 1))
done
for method in $methods; do
    choose $method 0.5
    n=1
    while [ $n -le $documents ]; do
        document $n
        n=$((n + 1))
    done > "$work/table.$method"
done
print_table "Table 2"

echo "Table 3: $queries queries"
echo "columns: F(500), F(750), F(1000), average precision"
for method in $methods; do
    choose $method 1
    n=0
    while [ $n -lt $queries ]; do
        query $n
        n=$((n + 1))
    done > "$work/table.$method"
done
print_table "Table 3"
