#!/bin/sh
# Three models of binary MNIST digits, as in Grathwohl et al. (2021, section 6): independent pixels,
# an RBM of 500 hidden units, and a convolutional energy-based model on top of a base distribution.
# Trained by PCD with gwg, judged by the log-likelihood of held-out digits (annealed importance
# sampling, both ways) and by the MMD of samples to them.
#
#     digits.sh t10k-images-idx3-ubyte.gz DIR [--quick | --full]
#
# --quick takes two minutes and shows that all of it runs, the default about half an hour on two
# cores, --full days. What was trained in DIR already goes on from its checkpoint. SALTUS names the
# program, THREADS how many it uses.
set -eu
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 64; }
images=$1 dir=$2 size=${3:-}
saltus=${SALTUS:-saltus}
threads=${THREADS:+--threads $THREADS}

# Updates, over which the rate of the conv net rises, its rate, and persistent chains;
# temperatures and steps of free chains.
case $size in
--quick) rbm=100 conv=40 warmup=20 rate=3e-4 buffer=500 temperatures=200 free=200 ;;
--full) rbm=50000 conv=50000 warmup=10000 rate=1e-4 buffer=10000 temperatures=20000 free=20000 ;;
'') rbm=5000 conv=4000 warmup=250 rate=1e-4 buffer=1000 temperatures=4000 free=5000 ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 64 ;;
esac
mkdir -p "$dir"

# last COLUMN LOG: its last value.
last() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
        END { print $c }' "$2"
}

echo "== RBM, 500 hidden units"
"$saltus" train rbm:hidden=500 --data "$images" --out "$dir/rbm" --resume $threads \
    --iterations $rbm --batch 100 --buffer $buffer --steps 50 --learning-rate 1e-3 \
    --averaging 0.999 --report 100

echo "== convolutional energy-based model"
"$saltus" train mnist-conv:base=1,levels=0 --data "$images" --out "$dir/conv" --resume $threads \
    --iterations $conv --batch 50 --buffer $buffer --steps 40 --restart 0.01 \
    --learning-rate $rate --rate-warmup $warmup --averaging 0.999 --report 50

for model in rbm conv; do
    echo "== $model: log-likelihood of held-out digits, with averaged parameters"
    out=$dir/$model
    [ -e "$out/free.npy" ] ||
        "$saltus" sample "$out/model.xml" --params "$out/ema.safetensors" --sampler gwg $threads \
            --chains 100 --warmup $free --draws 1 --out "$out/free.npy" >"$out/free.txt"
    "$saltus" evaluate "$out" --data "$images" --temperatures $temperatures --steps 2 $threads \
        --samples "$out/free.npy" | tee "$out/evaluation.txt"
    echo "MMD of the last persistent chains $(last mmd "$out/log.csv")," \
        "of training digits $(last mmd_train_test "$out/log.csv")"
done

echo "== residual net of 64 channels: what an update takes"
"$saltus" train mnist-resnet:base=1,levels=0 --data "$images" --out "$dir/resnet" --overwrite $threads \
    --iterations 2 --batch 50 --buffer 50 --steps 4 --report 1 >"$dir/resnet.txt"
log=$dir/resnet/log.csv
echo "$(last sampling_seconds "$log") $(last gradient_seconds "$log")" | awk '{
    update = $1 / 8 * 40 + $2 / 2
    printf "%.1f s for 50 chains of 40 steps; 50,000 updates: %.0f hours\n", update,
        update * 50000 / 3600
}'

# SPDX-License-Identifier: MIT
