# SPDX-License-Identifier: MIT
# awk -f calls.awk -v closed="FOLDER..." -v rules="FOLDER BELOW...; ..." FILE...: which source calls
# functions of which other one, read from their text. A header belongs to the source of its stem. A
# function whose address is taken counts as called; calls through the list of a registry do not.
#
# In the closed folders and their subfolders this refuses
#   - circles: files of which each calls a function of the next, and the last one of the first;
#   - calls that go up: of a function in a folder whose rule names the caller's folder, and not the
#     other way round. In a rule "models..." names models and all folders in it.
#
# The head of a function is what stands before a "{" outside all braces and ends in ")". A call is
# its name inside braces, in an initialiser or in the body of a macro, after none of ".", "->" and
# "struct". A function that two sources define, each for one kind of build, does not count.
BEGIN {
    n_closed = split(closed, folders, " ")
    n = split(rules, rule, "; *")
    for (i = 1; i <= n; i++) {
        split(rule[i], words, " ")
        may_call[words[1]] = " " rule[i] " "
    }
}

FNR == 1 {
    check_braces()
    file = FILENAME
    sub(/\.[ch]$/, "", file)
    in_header = FILENAME ~ /\.h$/
    if (!(file in number)) {
        number[file] = ++n_files
        name_of[n_files] = file
    }
    file = number[file]
    in_comment = in_directive = 0
}

{
    line = code_of($0)
    if (in_directive || line ~ /^ *#/) {
        if (sub(/^ *# *define +[A-Za-z0-9_]+(\([^)]*\))?/, "", line) || in_macro) {
            in_macro = line ~ /\\$/
            use_words(line)
        }
        in_directive = line ~ /\\$/
        next
    }
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*|[{};]/)) {
        before = substr(line, 1, RSTART - 1)
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (depth == 0) head = head before
        if (word == "{") {
            if (depth == 0) open_head()
            depth++
        } else if (word == "}") {
            if (--depth == 0) head = ""
        } else if (word == ";") {
            if (depth == 0) head = ""
        } else if (depth == 0) {
            if (head ~ /=/) use(word)
            head = head " " word
        } else if (!in_type && before !~ /(\.|->) *$/ && previous !~ /^(struct|union|enum)$/) {
            use(word)
        }
        previous = word
    }
    if (depth == 0) head = head line
}

function use(word)
{
    if (!((file, word) in used)) {
        used[file, word] = 1
        uses[file] = uses[file] " " word
    }
}

# Use the words of a macro's body.
function use_words(body)
{
    while (match(body, /[A-Za-z_][A-Za-z0-9_]*/)) {
        if (substr(body, 1, RSTART - 1) !~ /(\.|->) *$/) use(substr(body, RSTART, RLENGTH))
        body = substr(body, RSTART + RLENGTH)
    }
}

# A line without comments, with 0 for each constant text or character.
function code_of(line,    out, at, mark)
{
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at) break
            line = substr(line, at + 2)
            in_comment = 0
        } else if (!match(line, /["']|\/[*\/]/)) {
            return out line
        } else {
            out = out substr(line, 1, RSTART - 1)
            mark = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            if (mark == "//") break
            if (mark == "/*") {
                in_comment = 1
                out = out " "
            } else {
                if (mark == "'") match(line, /^([^'\\]|\\.)*'/)
                else match(line, /^([^"\\]|\\.)*"/)
                line = substr(line, RLENGTH + 1)
                out = out "0"
            }
        }
    }
    return out
}

# At the end of a file all braces are closed, or functions of the file were not seen.
function check_braces()
{
    if (file && is_closed(file) && depth != 0) {
        printf "%s: its braces do not match, so its calls cannot be read\n", name_of[file]
        bad = 1
    }
    depth = 0
    head = ""
}

# What stands before a "{" outside braces: a function's head, a type, or an initialiser.
function open_head(    name)
{
    in_type = head ~ /^ *(typedef +)?(struct|union|enum)( +[A-Za-z0-9_]+)? *$/
    if (head ~ /=/ || head !~ /\) *$/) return
    name = head
    if (sub(/^[^(]*\( */, "", name) && name ~ /^[A-Za-z0-9_]+ *\) *\(/) { # (name)(...)
        sub(/ *\).*/, "", name)
    } else {
        name = head
        sub(/ *\(.*/, "", name)
        sub(/.*[ *]/, "", name)
    }
    if (in_header ? name !~ /^sali_/ : head ~ /(^| )static /) return
    if (!(name in owner)) owner[name] = file
    else if (owner[name] != file) owner[name] = "many"
}

function is_closed(file,    i)
{
    for (i = 1; i <= n_closed; i++) {
        if (index(name_of[file], folders[i] "/") == 1) return 1
    }
    return 0
}

function folder_of(file,    folder)
{
    folder = name_of[file]
    sub(/\/[^\/]*$/, "", folder)
    return folder
}

# Whether the rule of a folder names another one, itself or as one of "FOLDER...".
function names(folder, other,    top)
{
    top = other
    sub(/\/.*/, "", top)
    return index(may_call[folder], " " other " ") || index(may_call[folder], " " top "... ")
}

# Tarjan's algorithm: strongly connected components of the calls.
function visit(v,    i, n, w, list)
{
    seen[v] = low[v] = ++n_seen
    stack[++top] = v
    on_stack[v] = 1
    n = split(callees[v], list, " ")
    for (i = 1; i <= n; i++) {
        w = list[i]
        if (!(w in seen)) {
            visit(w)
            if (low[w] < low[v]) low[v] = low[w]
        } else if (on_stack[w] && seen[w] < low[v]) {
            low[v] = seen[w]
        }
    }
    if (low[v] < seen[v]) return
    n = 0
    do {
        w = stack[top--]
        on_stack[w] = 0
        members[v] = members[v] " " w
        n++
    } while (w != v)
    if (n > 1) print_circle(v)
}

function print_circle(c,    i, j, n, list, matters)
{
    n = split(members[c], list, " ")
    for (i = 1; i <= n; i++) matters = matters || is_closed(list[i])
    if (!matters) return
    bad = 1
    printf "%d files call each other in a circle; move a function to the file of what it works on:\n", n
    for (i = 1; i <= n; i++) {
        for (j = 1; j <= n; j++) {
            if ((list[i], list[j]) in called) {
                printf "    %s calls, in %s:%s\n", name_of[list[i]], name_of[list[j]],
                    called[list[i], list[j]]
            }
        }
    }
}

END {
    check_braces()
    for (v = 1; v <= n_files; v++) {
        n = split(uses[v], words, " ")
        for (i = 1; i <= n; i++) {
            w = owner[words[i]]
            if (w == "" || w == "many" || w == v) continue
            if (!((v, w) in called)) callees[v] = callees[v] " " w
            called[v, w] = called[v, w] " " words[i]
            n_calls++
        }
    }
    if (!n_calls) {
        print "no calls found"
        bad = 1
    }
    for (pair in called) {
        split(pair, ends, SUBSEP)
        from = folder_of(ends[1])
        to = folder_of(ends[2])
        if (is_closed(ends[1]) && names(to, from) && !names(from, to)) {
            bad = 1
            printf "%s calls up, in %s:%s\n", name_of[ends[1]], name_of[ends[2]], called[pair]
        }
    }
    for (v = 1; v <= n_files; v++) {
        if (!(v in seen)) visit(v)
    }
    exit bad
}
