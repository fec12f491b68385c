#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# report.sh PROGRAM: pages from small inputs are whole, well-formed and self-contained, bad inputs
# are refused. How pages look is tested by report_look.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
program=$1
make_folder
cd "$folder"

# has PAGE TEXTS: all of these are in the page.
has() {
    local page=$1 text
    shift
    for text; do
        grep -qF -- "$text" "$page" || fail "$page lacks '$text'"
    done
}

# no_page CODE TEXT ARGUMENTS...: the exit code, one line with the text, and no page.
no_page() {
    rm -f page.html
    ends "$1" "$2" "$program" report "${@:3}" --out page.html
    (($(wc -l <<<"$message") == 1)) || fail "report $*: more than one line: $message"
    [[ ! -e page.html && ! -e page.html.tmp ]] || fail "report $*: left a page"
}

# ---- inputs

netcdf=1
"$program" sample ising:side=3,theta=0.1,bias=0.2 --sampler ncg --chains 3 --draws 300 --warmup 60 \
    --seed 5 --save-warmup --out run.nc >/dev/null 2>message || netcdf=0
if ((!netcdf)); then
    grep -q 'without libnetcdf' message || fail "sample --out run.nc: $(<message)"
    echo "SKIPPED: netCDF: built without libnetcdf"
fi
"$program" sample potts:side=2,states=3 --chains 3 --draws 200 --out draws.npy >/dev/null
"$program" sample ising:side=3,theta=0.1,bias=0.2 --chains 3 --draws 50 --out lattice.npy >/dev/null
"$program" exact ising:side=3,theta=0.1,bias=0.2 --marginals exact.json >/dev/null
"$program" exact potts:side=2,states=3 --marginals potts.json >/dev/null
"$program" compare ising:side=3,theta=0.1 --samplers gibbs,gwg,ncg,pavg --chains 4 --warmup 20 \
    --draws 150 --json >compare.json
"$program" train rbm:hidden=4 --data digits --steps 2 --iterations 6 --batch 10 --buffer 20 \
    --report 2 --out rbm >/dev/null
"$program" train rbm:hidden=4 --data digits --objective pcd --sampler ncg --steps 2 --iterations 2 --batch 10 \
    --buffer 20 --report 1 --out ncg >/dev/null
# The last error over time is that of all draws.
python3 - compare.json <<'PY' || fail "compare --json: error_trace does not end where it should"
import json, sys
for row in json.load(open(sys.argv[1]))["samplers"]:
    trace = row["error_trace"]
    draws, seconds, errors = (trace[k] for k in ("draws", "seconds", "marginal_error"))
    assert draws[0] == 1 and draws[-1] == row["draws"] and draws == sorted(set(draws)), draws
    assert seconds == sorted(seconds) and abs(seconds[-1] - row["seconds"]) < 1e-9, seconds
    assert abs(errors[-1] - row["marginal_error"]) < 1e-9, errors
    assert errors[0] > errors[-1], errors
PY
mkdir '<a & b>'
cp rbm/log.csv '<a & b>'

# ---- pages

"$program" report draws.npy -o draws.html
has draws.html 'Trace of variable' 'Autocorrelation' 'Ranks of' 'Probabilities of the states'
"$program" report draws.npy --exact potts.json --out exact.html
has exact.html 'Marginals against exact ones' 'Exact marginals: potts.json'
"$program" report draws.npy --model potts:side=2,states=3 -o model.html
has model.html 'Marginals against exact ones'
# Codes of spins are shown as the spins, if it is known that they are.
"$program" sample ising:side=3,theta=0.1 --chains 3 --draws 40 --out spins.npy >/dev/null
"$program" report spins.npy -o codes.html
has codes.html 'p(code 1)' 'Probabilities of code 1'
"$program" report spins.npy --model ising:side=3,theta=0.1 -o spins.html
has spins.html 'p(+1)' 'Probabilities of +1'
! grep -q 'code 1' spins.html || fail "spins.html: codes for spins"
"$program" report compare.json -o compare.html
has compare.html 'Effective draws per second' 'Error against time' '<td>gwg</td>' 'log Z'
"$program" report rbm -o rbm.html
has rbm.html 'Their difference' 'MMD to held-out data' 'Gradient norm' 'rbm:hidden=4,visible=256'
! grep -q '<dt>step size' rbm.html || fail "rbm.html: a step size, which gwg does not have"
"$program" report ncg -o ncg.html
has ncg.html '<dt>step size</dt><dd>adapted'
! grep -q '<dt>[a-z]*_' ncg.html || fail "ncg.html: an option is named with an underscore"
grep -qE "<p>(The model's own samples|Cannot tell)" rbm.html || fail 'rbm.html: no verdict'
has rbm.html 'correlation of covariances' 'training rows'
cp -r rbm none && rm none/verdict.json none/samples.png
"$program" report none -o none.html
! grep -qE '<p>(The model|Cannot tell)|Fresh samples' none.html || fail "none.html: a verdict out of nothing"
has none.html '<p>Not judged: '
if [[ -e rbm/samples.png ]]; then
    has rbm.html 'Fresh samples: drawn from the model' 'Persistent chains of the training'
    has rbm.html 'data:image/png;base64,'
    # The picture is there to the last byte.
    python3 - rbm.html rbm/samples.png <<'PY' || fail "rbm.html: not the picture samples.png"
import base64, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = re.search(r'src="data:image/png;base64,([^"]*)"', page).group(1)
sys.exit(base64.b64decode(re.sub(r"\s|&#1[03];", "", data)) != open(sys.argv[2], "rb").read())
PY
fi
inputs=(draws.npy compare.json rbm '<a & b>')
if ((netcdf)); then
    "$program" report run.nc -o run.html
    has run.html "Ranks of f among" "Ranks of spin["
    has run.html 'Trace of f' 'Trace of f in warm-up' 'Step size in warm-up' 'Acceptance' \
        'ising:side=3,theta=0.1,bias=0.2' 'Marginals against exact ones' ' UTC</dd>' '<dd>ncg</dd>'
    has run.html 'p(+1)' 'Probabilities of +1'
    printf '# vartype=SPIN\n0 1 1\n' >gone.coo
    "$program" sample gone.coo --chains 3 --draws 20 --out gone.nc >/dev/null
    rm gone.coo
    "$program" report gone.nc -o gone.html
    has gone.html 'the model cannot be opened' 'p(+1)'
    "$program" report run.nc --exact exact.json -o page.html
    has page.html 'Exact marginals: exact.json'
    has run.html 'rank share</text>' 'draws</text>'
    # A directory of a training is a model, with the parameters that it was sampled with.
    "$program" train ising:side=3 --data lattice.npy --kind draws --batch 10 --iterations 5 --fresh 0 \
        --learning-rate 0.1 --averaging 0.5 --out lattice >/dev/null
    "$program" sample lattice --chains 3 --draws 300 --out lattice.nc >/dev/null
    for model in '' '--model lattice'; do
        "$program" report lattice.nc $model -o page.html
        has page.html 'Marginals against exact ones' '<dd>lattice</dd>'
    done
    # Tables have values of spins and ordinal variables, not their codes, and name states.
    "$program" sample ising:side=2,theta=0,bias=-2 --draws 400 --out low.nc >/dev/null
    "$program" report low.nc -o low.html
    grep -qE '<td>spin\[[0-3]\]</td>(<td[^>]*>[^<]*</td>){2}<td[^>]*>−0\.9' low.html ||
        fail 'low.html: the means of spins are not near -1'
    cat >levels.xml <<'XML'
<saltus-tape version="1" dtype="f64">
  <space><block name="x" count="2" kind="ordinal"><levels>10 20</levels></block></space>
  <nodes><node op="state"/><node op="sum" in="0"><ints>-1</ints></node>
    <node op="scale" in="1"><reals>0.01</reals></node></nodes>
  <output node="2"/>
</saltus-tape>
XML
    "$program" sample levels.xml --sampler gibbs --draws 300 --out levels.nc >/dev/null
    "$program" report levels.nc -o levels.html
    grep -qE '<td>x\[[01]\]</td>(<td[^>]*>[^<]*</td>){2}<td[^>]*>1[45]\.' levels.html ||
        fail 'levels.html: the means are not those of levels 10 and 20'
    "$program" sample potts:side=2,states=3 --draws 200 --out potts.nc >/dev/null
    "$program" report potts.nc -o potts.html
    grep -qE '<td>site\[[0-3]\] = [0-2]</td>' potts.html || fail 'potts.html: no state is named'
    # What the verdict names is in the table, the largest R-hat first.
    python3 - low.html potts.html <<'PY' || fail 'the verdict names others than the table'
import re, sys
for path in sys.argv[1:]:
    page = open(path, encoding="utf-8").read()
    named = re.search(r"R-hat is [0-9.]+ (?:\(|for )(.*?)(?:\)|, and above)", page).group(1)
    rows = re.findall(r"<tr><td>(.*?)</td>", page)
    assert named == "f" or rows[1] == named, (named, rows)
    least = re.search(r"effective sample size [0-9]+ \((.*?)\)", page)
    assert not least or least.group(1) in rows, (least.group(1), rows)
PY
    # Fixed variables: the model's marginals given them; by number and by name.
    "$program" sample ising:side=3,theta=0.1 --clamp 3=1,7=0 --draws 200 --out fixed.nc >/dev/null
    "$program" report fixed.nc -o fixed.html
    has fixed.html 'Exact marginals: ' 'given the variables that were fixed'
    cat >rain.bif.xml <<'XML'
<BIF VERSION="0.3"><NETWORK>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE></DEFINITION>
<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>
XML
    "$program" sample rain.bif.xml --sampler gibbs --clamp wet=yes --chains 8 --draws 2000 \
        --out rain.nc >/dev/null
    "$program" report rain.nc -o rain.html
    has rain.html 'given the variables that were fixed'
    error=$(grep -oE 'Mean difference [0-9.e-]+' rain.html | sed 's/.* //; s/\.$//')
    awk -v e="$error" 'BEGIN { exit !(e != "" && e < 0.02) }' ||
        fail "rain.html: marginals given wet=yes differ by '$error'"
    inputs+=(run.nc)
fi
"$program" report "${inputs[@]}" -o all.html
has all.html '<a href="#file-4">&lt;a &amp; b&gt;</a>' '<section id="file-4">'
"$program" report "${inputs[@]}" -o again.html
cmp all.html again.html || fail "the same files gave another page"

# Well-formed, nothing from outside, no script, no id twice.
for page in *.html; do
    if command -v xmllint >/dev/null; then
        xmllint --noout "$page" || fail "$page is not well-formed"
    fi
    ! grep -qiE '<script|<link|@import|url\([^#]| on[a-z]+="' "$page" ||
        fail "$page has a script or fetches something"
    ! grep -oE '(src|href)="[^"]{0,20}' "$page" | grep -vE '"(#|data:)' ||
        fail "$page refers to other files"
    ids=$(grep -oE ' id="[^"]*"' "$page" | sort | uniq -d)
    [[ -z $ids ]] || fail "$page has ids twice: $ids"
    for reference in $(grep -oE 'url\(#[^)]*|href="#[^"]*' "$page" | sed 's/.*#//' | sort -u); do
        grep -qF " id=\"$reference\"" "$page" || fail "$page lacks id $reference"
    done
done

# ---- refusals

no_page 66 "cannot be opened" nothing.json
no_page 66 "no log.csv" "$folder/.."
echo '{"model": 3}' >bad.json
no_page 65 "expected draws (.nc, .npy)" bad.json
echo '{"model": "m", "samplers": [{}]}' >bad.json
no_page 65 "expected draws (.nc, .npy)" bad.json
echo hello >bad.npy
no_page 65 "bad.npy" bad.npy
head -c 2000 draws.npy >short.npy
no_page 65 "short.npy" compare.json short.npy
mkdir bad
echo 'iteration,f' >bad/log.csv
echo '1,x' >>bad/log.csv
no_page 65 "bad/log.csv:2: expected a number, found 'x'" bad
echo 'iteration,f' >bad/log.csv
echo '1,2,3' >>bad/log.csv
no_page 65 "bad/log.csv:2: expected 2 columns" bad
printf 'iteration,f\n1,2\n3,,4\n' >bad/log.csv
no_page 65 "bad/log.csv:3: an empty field" bad
printf 'iteration,f\0g\n1,2\n' >bad/log.csv
no_page 65 "bad/log.csv: expected text, found a NUL byte" bad
printf 'iteration,f\n1,2\n' >bad/log.csv
echo 'no picture' >bad/samples.png
no_page 65 "bad/samples.png: expected a PNG picture" bad
echo '{"verdict": 3}' >bad/verdict.json
no_page 65 "bad/verdict.json: expected the verdict" bad
rm bad/verdict.json
echo '[]' >bad/checkpoint.json
no_page 65 "bad/checkpoint.json: expected a checkpoint" bad
no_page 65 "the model has not the variables" draws.npy --model ising:side=3
no_page 65 "exact.json" draws.npy --exact exact.json
no_page 66 "no-such-model" draws.npy --model no-such-model
if ((netcdf)); then
    head -c 5000 run.nc >cut.nc
    no_page 65 "cut.nc" cut.nc
fi
code=0
"$program" report draws.npy 2>/dev/null || code=$?
((code == 64)) || fail "report without --out: exit code $code"
code=0
"$program" report -o page.html 2>/dev/null || code=$?
((code == 64)) || fail "report without files: exit code $code"

finish
