#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# doxygen.sh SOURCE_DIR DOXYGEN: every public function, type, field, value and macro is documented, and
# Doxygen has nothing to remark; functions that can fail say what they return, cost and allow.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
source=$1 doxygen=$2
awk -f "$source/tests/project/doc_comments.awk" "$source"/include/saltus/*.h

command -v "$doxygen" >/dev/null || skip "doxygen is not there; only the parts of comments were looked at"
make_folder
sed "s|@SOURCE@|$source|g; s|@OUTPUT@|$folder|; s|@VERSION@|test|" \
    "$source/docs/reference/Doxyfile.in" >"$folder/Doxyfile"
"$doxygen" "$folder/Doxyfile" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

# A filter that made nothing of the headers would leave nothing to remark.
for header in "$source"/include/saltus/*.h; do
    name=$(basename "$header" .h)
    [[ $name == saltus ]] || grep -q 'class="memdoc"' "$folder/reference/${name//_/__}_8h.html" ||
        { echo "FAILED: the page of $name.h is empty"; exit 1; }
    grep -q "saltus/$name\.h" "$source/docs/reference/main.dox" ||
        { echo "FAILED: docs/reference/main.dox does not name $name.h"; exit 1; }
done
grep -q 'dF / dtheta_iv = E\[f(s) | s_i = v\]' "$folder/reference/model_8h.html" ||
    { echo "FAILED: formulas do not keep their layout"; exit 1; }
tr '\n' ' ' <"$folder/reference/io_8h.html" | grep -q '<pre class="fragment">sal_draw_writer_open' ||
    { echo "FAILED: lines that are set off do not keep their layout"; exit 1; }
