# SPDX-License-Identifier: MIT
# What the shell tests share; to be sourced by Bash. A test goes on after a failure and ends with
# `finish`.
set -euo pipefail
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
finish() {
    exit $((failures > 0))
}

# skip WHY: what the test needs is not there.
skip() {
    echo "SKIPPED: $*"
    exit 77
}

# Make $folder, which goes away at the end.
make_folder() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
}

# ends CODE TEXT COMMAND..: that exit code, and the text in $message, what was said on standard error.
ends() {
    local want=$1 text=$2 code=0
    shift 2
    message=$("$@" 2>&1 >/dev/null) || code=$?
    ((code == want)) || fail "$*: exit code $code, not $want"
    [[ $message == *"$text"* ]] || fail "$*: '$message' lacks '$text'"
}

# refused TEXT ARGUMENTS..: a mistake in the call of $program.
refused() {
    ends 64 "$1" "$program" "${@:2}"
}
