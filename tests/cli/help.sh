#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# help.sh PROGRAM PAGES SOURCE_DIR: `saltus help` shows every command, option and exit code, the man
# pages (in the directory PAGES) have the same, and examples name options that there are.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
program=$1 pages=$2 source=$3

overview=$("$program" help)
commands=$(sed -n '/^Exit codes/q; s/^  \([a-z]\{1,\}\) .*/\1/p' <<<"$overview")
(($(wc -l <<<"$commands") >= 12)) || fail "saltus help lists few commands: $commands"

# What the sources declare, whatever help makes of it.
declared=$(sed -n 's/^const cli_command cli_[a-z]* = { "\([a-z]*\)".*/\1/p' $(find "$source/src/cli" -name '*.c'))
diff <(sort <<<"$declared") <(sort <<<"$commands") ||
    fail "src/cli/*.c and 'saltus help' (src/cli/commands.c) have not the same commands"
diff <(sed 's/.*/saltus-&.1/' <<<"$commands" | sort) <(cd "$pages" && ls saltus-*.1 | sort) ||
    fail "'saltus help' and the man pages (src/cli/meson.build) have not the same commands"
for code in $(grep -o 'CLI_[A-Z_]* = [0-9]*' "$source/src/cli/cli.h" | sed 's/.* //'); do
    grep -q "^  $code  *[a-z]" <<<"$overview" || fail "'saltus help' lacks exit code $code"
    grep -qx "\.B $code" "$pages/saltus.1" || fail "saltus.1 lacks exit code $code"
done

options_of() {
    sed -n '/^options:/,/^examples:/s/^  --\([a-z0-9-]*\).*/\1/p' <<<"$1"
}

# Whether a list, one a line, has this line.
has_line() {
    [[ $'\n'$1$'\n' == *$'\n'"$2"$'\n'* ]]
}

declare -A helps options # of each command
for command in $commands; do
    helps[$command]=$("$program" help "$command")
    options[$command]=$(options_of "${helps[$command]}")
done

check_command() {
    local command=$1 file help page option example
    file=$(find "$source/src/cli" -name "$1.c")
    help=${helps[$command]}
    page=$(<"$pages/saltus-$command.1")
    [[ $help == "$("$program" "$command" --help)" ]] || fail "help $command is not $command --help"
    for option in ${options[$command]} $(sed -n 's/^ *{ "\([a-z0-9-]*\)", CLI_.*/\1/p' "$file"); do
        has_line "${options[$command]}" "$option" || fail "help $command lacks --$option"
        grep -q "^.fB.-.-${option//-/.-}.fR" <<<"$page" || fail "saltus-$command.1 lacks --$option"
    done
    grep -q "^\.BR saltus.-$command (1)\$" "$pages/saltus.1" || fail "saltus.1 lacks $command"
    grep -q '^    saltus ' <<<"$help" || fail "help $command has no example"
    while read -r example; do
        read -r _ example_command _ <<<"$example"
        for option in $(grep -o -- ' --[a-z][a-z0-9-]*' <<<"$example" | sed 's/ --//'); do
            has_line "${options[$example_command]:-}" "$option" ||
                fail "help $command: no option --$option in its example: $example"
        done
    done < <(sed -n '/^examples:/,$s/^    \(saltus .*\)/\1/p' <<<"$help")
    if awk '/^options:/ { exit } length > 96 { bad = 1 } END { exit !bad }' <<<"$help"; then
        fail "help $command has long lines"
    fi
    ! LC_ALL=C grep -n '[^ -~]' <<<"$help" || fail "help $command is not plain ASCII"
}

for command in $commands; do
    check_command "$command"
done

refused "unknown command 'smaple'; did you mean 'sample'?" smaple ising
refused "unknown command 'trian'; did you mean 'train'?" help trian
refused "unknown command 'frobnicate'; see 'saltus help'" frobnicate
refused "unknown option '--chians'; did you mean '--chains'?" sample ising --chians 3
refused "unknown option '--thraeds'; did you mean '--threads'?" sample ising --thraeds=3
ends 66 "there is no model or file 'isng'; did you mean 'ising'?" "$program" sample isng
refused "ising has no setting 'sdie'; did you mean 'side'?" sample ising:sdie=4
refused "there is no sampler 'gqg'; did you mean 'gwg'?" sample ising --sampler gqg
refused "gwg has no setting 'raduis'; did you mean 'radius'?" sample ising --sampler gwg:raduis=2
refused "unknown option '--otu'; did you mean '--out'?" sample ising --otu x
refused "unknown option '--frobnicate'; see 'saltus sample --help'" sample ising --frobnicate
refused "unknown option '--$(printf 'x%.0s' {1..300})'; see" sample "--$(printf 'x%.0s' {1..300})"
refused "usage: saltus COMMAND"
refused "expected text, man or bash" help --format html
finish
