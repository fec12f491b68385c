#!/bin/sh
# Which sampler trains the best RBM? One RBM of 500 hidden units, trained on MNIST's test set by five
# ways to get the samples: gwg, ncg (DMALA), ncg with a cycle of step sizes (ACS), block Gibbs, each
# by persistent contrastive divergence, and parallel trajectory tempering. All are judged by one
# protocol: the log-likelihood of held-out digits, log Z by annealed importance sampling with block
# Gibbs, forward from independent pixels and in reverse from held-out digits; and fresh samples.
#
#     referee.sh t10k-images-idx3-ubyte.gz DIR [static | dynamic] [--quick]
#
# static: pixels are 0 or 1 once and for all; dynamic, if nothing is said: drawn anew by their greys.
# Five seeds of each; --quick shows with one that all of it runs. What is there already is kept, in a
# directory of DIR by the number of updates.
# SALTUS names the program, THREADS how many it uses, SEEDS which ones.
set -eu
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 64; }
images=$1 dir=$2 data=${3:-dynamic} size=${4:-}
[ "$data" != --quick ] || { data=dynamic size=--quick; }
saltus=${SALTUS:-saltus}
threads=${THREADS:+--threads $THREADS}
seeds=${SEEDS:-1 2 3 4 5} updates=3000 temperatures=10000 ptt=
case $data in
static) binary= ;;
dynamic) binary=--dynamic ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 64 ;;
esac
[ "$size" != --quick ] || { seeds=1 updates=20 temperatures=100 ptt="--iterations 20"; }
dir=$dir/$updates
mkdir -p "$dir"

# field PART KEY FILE: of a result in JSON.
field() {
    sed -n "s/.*\"$1\": {[^}]*\"$2\": \([^,}]*\).*/\1/p" "$3"
}

# judge NAME OPTIONS ..: train all seeds that are not there, evaluate, and print means and standard
# deviations over seeds.
judge() {
    name=$1
    shift
    for seed in $seeds; do
        out=$dir/$data-$name-$seed
        [ -e "$out.json" ] && continue
        if [ ! -e "$out.seconds" ]; then
            start=$(date +%s)
            "$saltus" train rbm:hidden=500 --data "$images" $binary $threads --averaging 0.999 \
                --seed "$seed" --out "$out" --resume "$@" >"$out.txt" 2>&1
            echo $(($(date +%s) - start)) >"$out.seconds"
        fi
        "$saltus" evaluate "$out" --data "$images" $binary $threads --sampler block-gibbs \
            --temperatures $temperatures --json --seed "$seed" >"$out.part" 2>>"$out.txt"
        mv "$out.part" "$out.json"
    done
    for seed in $seeds; do
        out=$dir/$data-$name-$seed
        echo "$(field forward log_likelihood "$out.json") $(field reverse log_likelihood "$out.json")" \
            "$(field mmd fresh "$out.json") $(cat "$out.seconds") $(field verdict verdict "$out.json")"
    done | awk -v name="$name" '
        {
            like += $5 == "\"like\""
            for (k = 1; k <= 4; k++) { sum[k] += $k; squares[k] += $k * $k }
        }
        END {
            printf "| %s", name
            for (k = 1; k <= 4; k++) {
                sd = NR > 1 ? sqrt((squares[k] - sum[k] ^ 2 / NR) / (NR - 1)) : 0
                printf k == 3 ? " | %.3f (%.3f)" : k == 4 ? " | %.0f" : " | %.1f (%.1f)", sum[k] / NR, sd
            }
            print " | " like + 0 " of " NR " |"
        }'
}

pcd="--objective pcd --iterations $updates --batch 100 --buffer 1000 --learning-rate 1e-3"
echo "| $data | log-likelihood, forward | reverse | MMD of fresh samples | seconds of training | verdict \"like\" |"
echo "|---|---|---|---|---|---|"
judge gwg $pcd --sampler gwg --steps 10
judge ncg $pcd --sampler ncg --steps 10
judge ncg-cycle $pcd --sampler ncg:cycle=10 --steps 10
judge block-gibbs $pcd --sampler block-gibbs --steps 10
judge equilibrium $ptt

# SPDX-License-Identifier: MIT
