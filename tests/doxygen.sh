#!/usr/bin/env bash
# doxygen.sh SOURCE_DIR DOXYGEN: every public function, type, field, value and macro is documented, and
# Doxygen has nothing to remark; functions that can fail say what they return, cost and allow.
set -euo pipefail
source=$1 doxygen=$2
awk -f "$source/tests/doc_comments.awk" "$source"/include/saltus/*.h

if ! command -v "$doxygen" >/dev/null; then
    echo "SKIPPED: doxygen is not there; only the parts of comments were looked at"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed "s|@SOURCE@|$source|g; s|@OUTPUT@|$folder|; s|@VERSION@|test|" \
    "$source/docs/reference/Doxyfile.in" >"$folder/Doxyfile"
"$doxygen" "$folder/Doxyfile" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

# A filter that made nothing of the headers would leave nothing to remark.
for page in ad data evaluate inpaint io model sample space stats status train; do
    grep -q '<dt>Returns</dt>\|class="memdoc"' "$folder/reference/${page}_8h.html" ||
        { echo "FAILED: the page of $page.h is empty"; exit 1; }
done
grep -q 'dF / dtheta_iv = E\[f(s) | s_i = v\]' "$folder/reference/model_8h.html" ||
    { echo "FAILED: formulas do not keep their layout"; exit 1; }
