#!/bin/sh
# What steps of a run and iterations of two trainings take on one rank, two, and three far ones: the
# table that cost.c reads. One line each: the work, its rows (chains, or batch), ranks, delay
# [ms] and rate [Mbit/s] between hosts (0 0: one machine), seconds of a step or iteration, and
# exchanges and bytes of rank 0 in it.
#
#     measure.sh MNIST-IMAGES USPS-IMAGES > measured.txt
#
# SALTUS names the program. Three minutes on an idle machine; far ranks need root (see far.py).
set -eu
[ $# = 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 64; }
mnist=$(realpath "$1") usps=$(realpath "$2") saltus=$(realpath "${SALTUS:-saltus}")
far=$(realpath "$(dirname "$0")")/far.py
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1

# launch RANKS DELAY RATE ARGUMENTS ..: the program.
launch() {
    ranks=$1 delay=$2 rate=$3
    shift 3
    if [ "$ranks" = 1 ]; then
        "$saltus" "$@"
    elif [ "$rate" = 0 ]; then
        mpirun --oversubscribe -n "$ranks" "$saltus" "$@" </dev/null
    else
        python3 "$far" --hosts "$ranks" --delay "$delay" --rate "$rate" -- mpirun -n "$ranks" "$saltus" "$@" </dev/null
    fi
}

# traffic: exchanges and bytes of rank 0 for each step or iteration, as said in the file `said`.
traffic() {
    awk '/rank 0 of/ {
             scale["B"] = 1; scale["kB"] = 1e3; scale["MB"] = 1e6; scale["GB"] = 1e9
             gsub(",", "")
             for (k = 1; k < NF; k++) {
                 if ($(k + 1) == "exchanges" && $(k - 1) ~ /steps|iterations/) { each = $k; bytes = $(k + 2) * scale[$(k + 3)] }
             }
         }
         END { print each + 0, bytes + 0 }' said
}

# sample ROWS RANKS DELAY RATE
sample() {
    launch "$2" "$3" "$4" sample ising:side=50,theta=0.2 --sampler gwg --chains "$1" --warmup 100 --draws 2000 \
        --threads 1 --verbose --json >result 2>said
    seconds=$(sed -n 's/.*"seconds": \([0-9.e+-]*\).*/\1/p' result | awk '{ print $1 / 2000 }')
    echo "sample $1 $2 $3 $4 $seconds $(traffic)"
}

# train NAME ITERATIONS ROWS RANKS DELAY RATE ARGUMENTS ..
train() {
    name=$1 iterations=$2 rows=$3 ranks=$4 delay=$5 rate=$6
    shift 6
    rm -rf trained
    launch "$ranks" "$delay" "$rate" train "$@" --objective pcd --buffer 1000 --batch "$rows" --iterations "$iterations" \
        --report "$iterations" --fresh 0 --threads 1 --verbose --out trained >/dev/null 2>said
    echo "$name $rows $ranks $delay $rate $(awk -F, -v n="$iterations" 'END { print $2 / n }' trained/log.csv) $(traffic)"
}
rbm() {
    train rbm 40 "$@" rbm:hidden=500 --data "$mnist" --sampler block-gibbs --steps 10
}
conv() {
    train conv 6 "$@" usps-conv --data "$usps" --sampler gwg --steps 40
}

for work in sample rbm conv; do
    for rows in 128 256; do
        $work $rows 1 0 0
    done
    $work 128 2 0 0
    for hosts in 2 3; do
        $work 128 $hosts 0.5 1000
        $work 128 $hosts 5 1000
        $work 128 $hosts 0.5 100
    done
done

# SPDX-License-Identifier: MIT
