#!/bin/sh
# cut_bound.sh SALTUS PYTHON CUT_BOUND: the bound of a narrow torus is the cut that elimination gives.
set -eu
saltus=$(realpath "$1") python=$2 bound=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
torus=max-cut:graph=torus,nodes=200,group=8,weights=sign,seed=1
"$saltus" convert "$torus" torus.gset
code=0
"$python" "$bound" torus.gset >said || code=$?
cat said
[ $code = 0 ] || exit $code # 77: there is no scipy
# log Z / beta is the largest cut and a fraction of 1, by the number of cuts that reach it.
cut=$("$saltus" exact "$torus,beta=200" | sed -n 's/^log Z  *\([0-9.]*\).*/\1/p' | awk '{ print int($1 / 200) }')
grep -qx "the largest cut is $cut" said || { echo "FAILED: elimination gives $cut"; exit 1; }

# An edge that is there twice, and weights that programs solve to a relative gap only by default.
printf '3 3\n1 2 3\n1 2 -2\n2 3 1\n' >twice.gset
"$python" "$bound" twice.gset | grep -qx "the largest cut is 2" || { echo "FAILED: edges do not add up"; exit 1; }
printf '3 3\n1 2 1234564\n2 3 1\n1 3 1\n' >large.gset
"$python" "$bound" large.gset | grep -qx "the largest cut is 1234565" || { echo "FAILED: large weights"; exit 1; }
for lines in '3 1\n1 1 7\n' '3 1\n1 9 7\n' 'x\n' ''; do
    printf "$lines" >bad.gset
    ! "$python" "$bound" bad.gset 2>err || { echo "FAILED: not refused: $lines"; exit 1; }
    ! grep -q Traceback err || { cat err; exit 1; }
done
