#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# handbook.sh SALTUS SOURCE_DIR: docs/ops.md says what the operations' records say, docs/figures.md what
# the table of figures says; commands in the handbook and the README name options, samplers and models
# that there are; the handbook's links lead somewhere.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
program=$(realpath "$1")
cd "$2/docs"

for what in ops figures; do
    diff $what.md <("$program" list $what --format markdown) ||
        fail "make it anew by: saltus list $what --format markdown > docs/$what.md"
done

# Commands: lines that begin with "$ saltus", and those that go on from a \.
commands() {
    sed -nE ':more; /\\$/ { N; s/\\\n */ /; b more }; s/^ +\$ (saltus .*)/\1/p' "$1"
}
samplers=$("$program" list samplers | sed -n 's/^\([a-z0-9-]\{1,\}\) .*/\1/p; s/^ *also called //p')
models=$("$program" list models | sed -n 's/^\([a-z0-9-]\{1,\}\) .*/\1/p')
declare -A helps
checked=0
for page in *.md ../README.md; do
    while read -r _ command first words; do
        [[ -v helps[$command] ]] || helps[$command]=$("$program" "$command" --help) ||
            { fail "$page: there is no command '$command'"; continue; }
        for option in $(grep -oE -- '--[a-z][a-z0-9-]*' <<<"$words" || true); do
            grep -q "^  $option\b" <<<"${helps[$command]}" || fail "$page: saltus $command has no $option"
        done
        for sampler in $(sed -nE 's/.*--samplers? ([^ ]+).*/\1/p' <<<"$words" | tr , '\n'); do
            [[ $sampler == *=* && $sampler != *:* ]] || grep -qx "${sampler%%:*}" <<<"$samplers" ||
                fail "$page: there is no sampler '${sampler%%:*}'"
        done
        if [[ $first =~ ^[a-z][a-z0-9-]*: ]]; then
            grep -qx "${first%%:*}" <<<"$models" || fail "$page: there is no model '${first%%:*}'"
        fi
        checked=$((checked + 1))
    done < <(commands "$page")
done
((checked > 50)) || fail "only $checked commands were found"

for sampler in $samplers; do
    [[ $sampler == dmala ]] || grep -q "\`$sampler[:\`]" samplers.md || fail "samplers.md lacks $sampler"
done

# A heading as a link says it.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-'
}
for page in *.md; do
    for link in $(grep -oE '\]\([^)]+\)' "$page" | tr -d '])('); do
        file=${link%%#*}
        [[ -f ${file:-$page} ]] || { fail "$page: no file $file"; continue; }
        [[ $link != *#* ]] || anchors "${file:-$page}" | grep -qx -- "${link#*#}" ||
            fail "$page: no heading for $link"
    done
done
finish
