#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# completion.sh SCRIPT: what Bash offers for a line is what it should.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
script=$1
bash -n "$script"
# shellcheck disable=SC1090
source "$script"
[[ $(complete -p saltus) == 'complete -F _saltus saltus' ]]

# The break characters of Bash itself.
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
make_folder
cd "$folder"
touch graph.mc 'two words.npy'
mkdir graphs

# offers LINE WORDS: exactly these, in any order.
offers() {
    local line=$1 want found
    shift
    COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
    _saltus || true
    want=$(printf '%s\n' "$@" | sort)
    found=$(printf '%s\n' "${COMPREPLY[@]:-}" | sort)
    if [[ $found != "$want" ]]; then
        fail "'$line' offers:" $found "instead of:" $want
    fi
}

# has LINE WORDS: these among others.
has() {
    local line=$1 word
    shift
    COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
    _saltus || true
    for word; do
        if [[ " ${COMPREPLY[*]:-} " != *" $word "* ]]; then
            fail "'$line' does not offer $word, but: ${COMPREPLY[*]:-}"
        fi
    done
}

offers 'saltus sam' sample
has 'saltus ' sample train help convert --version
offers 'saltus sample --sam' --sample --sampler
offers 'saltus sample --sampl' --sample --sampler
offers 'saltus sample --sampler' --sampler
has 'saltus sample ising --' --sampler --seed --json --help
offers 'saltus help ex' exact
offers 'saltus list f' figures formats
offers 'saltus nothing ' ''

# Words of options, apart or joined.
offers 'saltus sample ising --sampler gw' gwg
offers 'saltus sample ising --sampler=gw' gwg
offers 'saltus sample ising --sampler gwg:ho' hops=
offers 'saltus sample ising --sampler=gwg:hops=2,rad' 2,radius=
offers 'saltus sample ising --sampler dmal' dmala
offers 'saltus compare ising --samplers gwg,nc' gwg,ncg
offers 'saltus sample ising --dtype ' f32 f64
offers 'saltus sample ising --step-size a' adapt auto
offers 'saltus train rbm --optimiser=adam' adam adamw
offers 'saltus convert a b --to gs' gset
offers 'saltus sample ising --chains ' ''

# Models, their settings, files; after flags and options with a value.
offers 'saltus sample ising-' ising-er ising-dense ising-cubic
offers 'saltus sample --json ising-d' ising-dense
offers 'saltus sample --chains 4 --thin=2 ising-d' ising-dense
offers 'saltus sample ising:th' theta=
offers 'saltus sample ising:side=4,th' 4,theta=
offers 'saltus sample max-cut:file=graph' graph.mc graphs
offers 'saltus sample gra' graph.mc graphs
offers 'saltus convert gra' graph.mc graphs
offers 'saltus convert in gra' graph.mc graphs
offers 'saltus convert in out gra' ''
offers 'saltus sample ising --init tw' 'two words.npy'
offers 'saltus sample ising --out=gr' graph.mc graphs
has 'saltus inpaint rbm --mask ' top bottom graph.mc

# Up to the cursor only.
COMP_LINE='saltus sam ising' COMP_POINT=10
_saltus || true
[[ ${COMPREPLY[*]} == sample ]] || failures=$((failures + 1))

# A Bash that does not break words at '=' and ':' replaces all of them.
COMP_WORDBREAKS=$' \t\n'
offers 'saltus sample ising:side=4,th' ising:side=4,theta=
offers 'saltus sample ising --sampler=gw' --sampler=gwg
finish
