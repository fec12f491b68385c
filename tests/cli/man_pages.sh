#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# man_pages.sh PAGES: groff and mandoc have nothing to say against the pages, and show their options.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
pages=$1

command -v groff >/dev/null || skip "groff is not there"
command -v mandoc >/dev/null || echo "mandoc is not there; its lint is left out"

# Plain text on standard output, warnings on standard error.
format() {
    groff -man -ww -Tutf8 -rLL=80n -P-cbou "$1"
}

for page in "$pages"/*.1; do
    said=$(format "$page" 2>&1 >/dev/null) || fail "groff cannot format $page"
    [[ -z $said ]] || fail "$page: $said"
    text=$(format "$page" 2>/dev/null)
    for option in $(tr -d '\\' <"$page" | sed -n 's/^fB\(--[a-z0-9-]*\)fR.*/\1/p'); do
        grep -qE -- "^       $option( |\$)" <<<"$text" || fail "$page does not show $option"
    done
    for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' 'SEE ALSO'; do
        grep -qx "$section" <<<"$text" || fail "$page has no section $section"
    done
    if command -v mandoc >/dev/null; then
        # The pages carry a version, no date.
        said=$(mandoc -Tlint -Wwarning "$page" | grep -v 'missing date' || true)
        [[ -z $said ]] || fail "$said"
    fi
done
finish
