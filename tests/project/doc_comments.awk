# SPDX-License-Identifier: MIT
# Every function of a public header that can fail says in its comment what it returns, what it costs
# and who may call it at the same time.
/^\/\*/ { comment = "" }
/^(\/| )\*/ { comment = comment $0 "\n"; next }
/^SAL_API sal_status / {
    name = $3
    sub(/\(.*/, "", name)
    missing = ""
    n = split("Returns Cost Threads", heading, " ")
    for (i = 1; i <= n; i++) {
        if (comment !~ "\n \\* " heading[i] ":") missing = missing " " heading[i]
    }
    if (missing) { printf "%s:%d: %s: its comment lacks%s\n", FILENAME, FNR, name, missing; bad = 1 }
    seen++
}
/;$/ { comment = "" }
END {
    if (!seen) { print "no functions found"; bad = 1 }
    exit bad
}
