# SPDX-License-Identifier: MIT
# What Doxygen reads in place of a header: plain comments become documentation. A comment on lines of
# its own belongs to what follows, one after a declaration to that; "Math:", "Params:" and the other
# headings of a comment become paragraphs, of which Math keeps its layout, as do lines that are set
# off. A comment that begins with "----" is a heading in the header only.

function escaped(text) {
    gsub(/[\\@&<>#%]/, "\\\\&", text)
    while (match(text, /`[^`]+`/)) {
        text = substr(text, 1, RSTART - 1) "<tt>" substr(text, RSTART + 1, RLENGTH - 2) "</tt>" \
               substr(text, RSTART + RLENGTH)
    }
    return text
}

function end_verbatim() {
    if (verbatim) out = out "@endverbatim\n"
    verbatim = 0
}

function begin_verbatim() {
    if (!verbatim) out = out "\n@verbatim\n"
    verbatim = 1
}

# One line of a comment, without its frame, added to `out`.
function add(text,    key, indent) {
    if (match(text, /^ *(Math|Params|Returns|Cost|Threads|Source): */)) {
        end_verbatim()
        key = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        margin = RLENGTH
        gsub(/[ :]/, "", key)
        section = key
        out = out "\n@par " key "\n"
        complete = 0
        if (section == "Math") {
            begin_verbatim()
            out = out text "\n"
            return
        }
    }
    match(text, /^ */)
    indent = RLENGTH
    if (section == "Math") {
        out = out substr(text, (indent < margin ? indent : margin) + 1) "\n"
    } else if (!section && !trailing && indent >= 4) {
        begin_verbatim()
        out = out substr(text, 5) "\n"
    } else {
        end_verbatim()
        if (section && complete && indent <= margin) out = out "@n "
        out = out escaped(substr(text, indent + 1)) "\n"
        complete = text ~ /[.;]$/
    }
}

function finish() {
    end_verbatim()
    sub(/\n$/, "", out)
    printf "%s */%s\n", out, rest
    inside = 0
}

# The licence, before what the file is about.
NR == 1 && /SPDX/ { next }

# The codes of the list in status.h, as the enumeration that they make.
/^ *X\([A-Z_]+, -?[0-9]+, "/ {
    split($0, part, "\"")
    code = $0
    gsub(/^ *X\(|,.*/, "", code)
    codes = codes "SAL_" code " /**< " part[2] " */,\n"
}
/^ *SAL_STATUS_LIST\(SAL_STATUS_ENUM\)/ { print codes; next }
/^#define SAL_STATUS_ENUM|^#undef/ { next }

# A macro without a comment of its own: that by which C calls a function NAME_at, or one like the
# macro above along an axis.
!documented && !/\/\*/ && match($0, /^#define sal_[a-z0-9_]+\(/) {
    name = substr($0, 9, RLENGTH - 9)
    print name ~ /_axis$/ ? "/** The same along an axis, -rank to rank - 1. */" : \
        "/** " name "_at(), recorded at the caller's file and line. */"
}
{ documented = /\*\/ *$/ }

inside {
    line = $0
    if (line ~ /^ *\*\//) sub(/^ */, "", line)
    else sub(/^ *\*? ?/, "", line)
    at = index(line, "*/")
    if (at) { rest = substr(line, at + 2); line = substr(line, 1, at - 1) }
    sub(/ +$/, "", line)
    add(line)
    if (at) finish()
    next
}

/\/\*/ && !/\/\* ----/ && !/^#(endif|else)/ {
    at = index($0, "/*")
    before = substr($0, 1, at - 1)
    line = substr($0, at + 2)
    sub(/^\*?<? */, "", line)
    trailing = before !~ /^ *$/
    section = ""
    verbatim = 0
    out = before (trailing ? "/**< " : NR == 2 ? "/** @file\n" : "/** ")
    rest = ""
    at = index(line, "*/")
    if (at) { rest = substr(line, at + 2); line = substr(line, 1, at - 1) }
    sub(/ +$/, "", line)
    add(line)
    if (at) finish(); else inside = 1
    next
}

{ print }
