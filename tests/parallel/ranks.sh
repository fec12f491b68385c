#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ranks.sh PROGRAM [LIBRARY]: what the program does on 2, 3 and 5 ranks is bit by bit what it does
# alone; runs and trainings go on on other numbers of ranks; ranks that differ, or fail, end all with
# one message. LIBRARY is ranks.c, which is run too; without it the program was built without MPI.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
(($# == 2)) || skip "built without MPI"
program=$(realpath "$1") library=$(realpath "$2")
command -v mpirun >/dev/null || skip "mpirun is not installed"
make_folder
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_mpi_yield_when_idle=1 # ranks that wait leave the processor to others
export ASAN_OPTIONS=detect_leaks=0 # MPI's own

# on N ARGUMENTS..: the program on N ranks.
on() {
    mpirun --oversubscribe -n "$1" "$program" "${@:2}" </dev/null
}

# same FILE OTHER: but for times.
untimed() {
    tr ',' '\n' <"$1" | grep -v second
}
same() {
    cmp -s <(untimed "$1") <(untimed "$2") || fail "$1 and $2 differ: $what"
}

# ---- the library's functions

for ranks in 1 2 3 5; do
    mpirun --oversubscribe -n "$ranks" "$library" </dev/null || fail "the library on $ranks ranks"
done

# ---- runs: the file, or the best state, and the summary

run() {
    what="sample $*"
    rm -f ./*.npy
    "$program" sample "$@" --json >alone.json || fail "$what"
    for file in draws.npy best.npy; do
        [[ ! -f $file ]] || mv "$file" "alone.$file"
    done
    for ranks in $numbers; do
        on "$ranks" sample "$@" --json >ranks.json || fail "on $ranks ranks: $what"
        same alone.json ranks.json
        for file in draws.npy best.npy; do
            [[ ! -f alone.$file ]] || cmp -s "alone.$file" "$file" || fail "$file on $ranks ranks: $what"
            rm -f "$file"
        done
    done
}

numbers="1 2 3 5"
run ising:side=4,theta=0.1 --chains 70 --draws 60 --warmup 100 --out draws.npy
numbers=3
run ising:side=4,theta=0.1 --chains 70 --draws 40 --sampler gibbs:scan=adaptive --out draws.npy
run ising:side=4,theta=0.1 --chains 70 --draws 40 --warmup 100 --sampler lsb1 --out draws.npy
run ising:side=4,theta=0.1 --chains 70 --until ess=9000 --out draws.npy
run ordinal-poly4 --chains 70 --draws 30 --warmup 400 --sampler pavg --out draws.npy
run ising:side=4,theta=0.1 --chains 70 --draws 40 --warmup 200 --sampler ncg:cycle=4 --out draws.npy
run ising:side=4,theta=0.1 --chains 70 --draws 40 --warmup 100 --sampler gwg:radius=search --out draws.npy
run ising:side=4,theta=0.3 --chains 40 --draws 40 --warmup 200 --sampler gibbs --tempering 4 --out draws.npy
run poisson:dim=5 --chains 40 --draws 40 --out draws.npy
numbers="2 3 5" # two ladders, each cut in two
run ising:side=4,theta=0.3 --chains 2 --draws 100 --warmup 400 --sampler ncg --tempering 64 --out draws.npy
run ising:side=4,theta=0.1 --chains 3 --draws 40 --warmup 200 --sampler gibbs --tempering 40 --houdayer --out draws.npy
run ising:side=4,theta=0.1 --chains 34 --draws 40 --warmup 200 --sampler ncg --tempering 5 --houdayer --out draws.npy
numbers=3
run ising:side=3 --chains 1 --draws 40 --out draws.npy
run max-cut:nodes=30 --anneal reheat --chains 70 --draws 300 --best best.npy
run independent-set:nodes=40 --anneal --coolings 3 --chains 40 --best best.npy

# ---- going on: 300 draws on two ranks, the rest on five

what="--resume"
"$program" sample poisson:dim=4 --chains 40 --draws 500 --out whole.nc --json >alone.json 2>/dev/null ||
    skip_files=yes
if [[ -z ${skip_files:-} ]]; then
    on 2 sample poisson:dim=4 --chains 40 --draws 300 --out part.nc >/dev/null
    on 5 sample --resume part.nc --draws 500 --json >ranks.json
    same alone.json ranks.json
    "$program" stats whole.nc >alone.txt
    "$program" stats part.nc >ranks.txt
    cmp -s <(tail -n +2 alone.txt) <(tail -n +2 ranks.txt) || fail "draws of a run that went on differ"
fi

# ---- trainings, to the parameters' last bit; and what is judged

train() {
    what="train $*"
    rm -rf alone ranks
    "$program" train "$@" --data digits --fresh 0 --out alone >/dev/null 2>&1 || fail "$what"
    for ranks in $numbers; do
        rm -rf ranks
        on "$ranks" train "$@" --data digits --fresh 0 --out ranks >/dev/null 2>&1 || fail "on $ranks ranks: $what"
        cmp -s alone/model.safetensors ranks/model.safetensors || fail "parameters on $ranks ranks: $what"
    done
}

numbers="2 3 5"
pcd="--objective pcd --steps 4 --batch 100 --buffer 300 --iterations 12"
train rbm:hidden=8 $pcd --sampler gwg
numbers=3
train rbm:hidden=8 $pcd --sampler ncg --restart 0.1
train rbm:hidden=8 --objective cd --sampler gibbs --steps 9 --batch 70 --iterations 8
train ising-dense:dim=256 --objective pseudo-likelihood --batch 100 --iterations 8
train strided-conv:height=16,width=16,channels=2,units=2,levels=4 --batch 80 --iterations 8 --steps 2
train potts-dense:dim=256,states=2,scale=0 $pcd --sampler gibbs --sparsity activate --sparsity-every 3 --sparsity-share 0.01
train potts-dense:dim=256,states=2,scale=0 $pcd --sampler gibbs --sparsity decimate --sparsity-every 2 --pearson 0.01
train rbm:hidden=8 --objective ptt --batch 100 --iterations 8 --steps 4
what="evaluate"
"$program" evaluate ranks --data digits --temperatures 100 --fresh 0 --json >alone.json
on 3 evaluate ranks --data digits --temperatures 100 --fresh 0 --json >ranks.json
same alone.json ranks.json
"$program" sample ranks --chains 70 --draws 10 --json >alone.json 2>/dev/null
on 2 sample ranks --chains 70 --draws 10 --json >ranks.json 2>/dev/null
same alone.json ranks.json
rm -rf whole part
"$program" train rbm:hidden=8 $pcd --data digits --fresh 0 --out whole >/dev/null 2>&1
on 3 train rbm:hidden=8 $pcd --iterations 6 --data digits --fresh 0 --out part >/dev/null 2>&1
on 2 train rbm:hidden=8 $pcd --data digits --fresh 0 --out part --resume >/dev/null 2>&1
cmp -s whole/model.safetensors part/model.safetensors || fail "a training that went on on other ranks differs"
on 2 compare ising:side=3 --samplers gibbs,gwg --draws 200 --json >ranks.json || fail "compare"
grep -q '"sampler": "gwg"' ranks.json || fail "compare on two ranks lacks a sampler"

# ---- ranks that differ, or cannot begin: one message, once

# differ CODE TEXT: after two lists of arguments in $first and $second.
differ() {
    local code=0
    mpirun --oversubscribe -n 1 "$program" $first : -n 2 "$program" $second </dev/null >said 2>&1 || code=$?
    ((code == $1)) || fail "mpirun $first : $second: exit code $code, not $1"
    (($(grep -c "^saltus: " said) == 1)) && grep -q "^saltus: .*$2" said || fail "'$(cat said)' lacks one '$2'"
}
first="sample ising:side=3" second="sample ising:side=3 --chains 5"
differ 64 "rank 1 of 3 has another 'chains' than rank 0"
second="sample ising:side=3,theta=0.2"
differ 64 "has another 'model' than rank 0"
second="sample none.uai"
differ 66 "none.uai: cannot be opened"
first="train rbm:hidden=4 --data digits --iterations 2 --fresh 0 --out d"
second="train rbm:hidden=5 --data digits --iterations 2 --fresh 0 --out d"
differ 64 "rank 1 of 3 has another model, other data or other options"
on 3 list samplers >list.txt
cmp -s list.txt <("$program" list samplers) || fail "list is not printed once"

# ---- a rank that dies: what is on disk goes on

if [[ -z ${skip_files:-} ]]; then
    dies="sample ising:side=10 --chains 40 --warmup 20 --draws 1000000 --thin 30"
    rm -f dies.nc dies.nc.draws
    (on 2 $dies --out dies.nc >/dev/null 2>&1 || true) &
    for ((k = 0; k < 1200; k++)); do # a megabyte is 200 draws, and a state before them
        [[ ! -e dies.nc.draws ]] || (($(stat -c %s dies.nc.draws) < 1000000)) || break
        sleep 0.1
    done
    pkill -9 -f -n "$program $dies" || fail "no rank to kill"
    wait
    "$program" sample --resume dies.nc --draws 1000000 --time 4s --json >resumed.json 2>said || true
    grep -q '"draws": [1-9]' resumed.json || fail "a run of which a rank died does not go on: '$(cat said)'"
fi

# ---- ranks that are told to stop: Ctrl-C at mpirun, which asks them to end; a signal that it passes on

# told SIGNAL: training that lasts for hours gets it, and can go on.
told() {
    rm -rf stops
    mpirun --oversubscribe -n 2 "$program" train rbm:hidden=8 $pcd --iterations 1000000 --report 100 --checkpoint 100000 \
        --data digits --fresh 0 --out stops </dev/null >said 2>&1 &
    local launcher=$! k
    for ((k = 0; k < 600; k++)); do
        [[ ! -s stops/log.csv ]] || break
        sleep 0.1
    done
    kill -"$1" "$launcher"
    wait "$launcher" || true
    grep -q "stopped after [1-9][0-9]* iterations; --resume" said || fail "$1 at mpirun: '$(cat said)'"
    [[ -s stops/checkpoint.json ]] || fail "$1 at mpirun: no checkpoint"
}
told INT
told USR1

# ---- a disk that is full at rank 0

if [[ -z ${skip_files:-} ]]; then
    limited=$(printf 'trap "" XFSZ; ulimit -f 40; exec %q sample ising:side=10 --chains 40 --draws 100000 --out full.nc' "$program")
    code=0
    mpirun --oversubscribe -n 1 bash -c "$limited" : \
        -n 1 "$program" sample ising:side=10 --chains 40 --draws 100000 --out full.nc </dev/null >said 2>&1 || code=$?
    ((code == 74)) || fail "a full disk at rank 0: exit code $code, not 74: $(cat said)"
    grep -q "^saltus: full.nc" said || fail "a full disk at rank 0: '$(cat said)'"
fi
finish
