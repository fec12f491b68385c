#!/bin/sh
# What the chains of a training show, and what its model is: one RBM or Potts model of the same data,
# trained by persistent contrastive divergence with three samplers and by parallel trajectory
# tempering. For each, the training's own chains beside samples drawn from scratch.
#
#     equilibrium.sh DIR DATA [ITERATIONS [ITERATIONS OF THE LAST]]
#
# DATA is a file of images, `digits`, or an alignment whose name ends in .fasta. ITERATIONS are those
# of the first ones, 2000 if not given; the last one takes what suits the model (alignments: what
# docs/training.md has for ptt), or the fourth word. SALTUS names the program.
set -eu
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 64; }
dir=$1 data=$2 iterations=${3:-2000} own=${4:+--iterations $4}
saltus=${SALTUS:-saltus}
mkdir -p "$dir"

# figure FILE KEY PART: of a verdict, to three digits.
figure() {
    sed -n "s/.*\"$2\": {[^}]*\"$3\": \([^,}]*\).*/\1/p" "$1" |
        awk '{ if ($1 == "null") print "-"; else printf "%.3f\n", $1 }'
}

row() {
    name=$1 out=$dir/$2
    shift 2
    start=$(date +%s)
    [ -e "$out/verdict.json" ] ||
        "$saltus" train "$@" --seed 1 --out "$out" --overwrite >"$out.txt" 2>&1
    v=$out/verdict.json
    echo "| $name | $(figure "$v" means_correlation persistent), $(figure "$v" covariances_correlation persistent)," \
        "$(figure "$v" mmd persistent) | $(figure "$v" means_correlation fresh)," \
        "$(figure "$v" covariances_correlation fresh), $(figure "$v" mmd fresh) |" \
        "$(sed 's/.*"verdict": "\([^"]*\)".*/\1/' "$v") | $(($(date +%s) - start)) s |"
}

echo "| training | its chains: means, covariances, MMD | fresh samples: the same | verdict | time |"
echo "|---|---|---|---|---|"
case $data in
*.fasta)
    pcd="potts-alignment:file=$data --iterations $iterations --batch 1000 --buffer 1000 --optimiser sgd
        --momentum 0 --learning-rate 0.02 --pearson 0 --report 100"
    ptt="potts-alignment:file=$data --objective ptt --sampler gibbs --steps -1 --batch 1000
        --reservoir 20000 --optimiser sgd --momentum 0 --learning-rate 0.02 --rate-cooldown 0.5
        --iterations 6000"
    row 'PCD, gibbs, a sweep' gibbs $pcd --objective pcd --sampler gibbs --steps -1
    row 'PCD, gwg, K = 20' gwg $pcd --objective pcd --sampler gwg --steps 20
    ;;
*)
    pcd="rbm:hidden=200 --data $data --iterations $iterations --batch 100 --learning-rate 0.002"
    ptt="rbm:hidden=200 --data $data"
    row 'PCD, gwg, K = 20' gwg $pcd --objective pcd --sampler gwg --steps 20
    row 'PCD, ncg, K = 20' ncg $pcd --objective pcd --sampler ncg --steps 20
    row 'PCD, block Gibbs, K = 1' block $pcd --objective pcd --sampler block-gibbs --steps 1
    ;;
esac
row 'PTT, as recorded' ptt $ptt $own

# SPDX-License-Identifier: MIT
