#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# json.sh PROGRAM: what --json prints of models, lists, values and trainings agrees with
# what is printed as text; reports and progress of long commands on files and on terminals.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
program=$1
make_folder
cd "$folder"

# holds FILE PYTHON: the expression is true of the JSON object d in the file; looked at in the end.
holds() {
    printf '%s\0%s\0' "$1" "$2" >>holds
}

# ---- lists: the names that the text has

for what in models samplers ops formats figures; do
    "$program" list "$what" --json >"$what.json"
    "$program" list "$what" | grep -oE '^(  )?[a-z][a-z0-9_.-]* ' | tr -d ' ' >"$what.txt"
    python3 - "$what" <<'PY' || fail "list $what --json has other names than list $what"
import json, sys
what = sys.argv[1]
names = [item["name"] for item in json.load(open(what + ".json"))[what]]
text = open(what + ".txt").read().split()
assert len(names) > 10 and len(set(names)) == len(names), names
if what == "formats":  # sorted by content; other files come last
    assert set(names) <= set(text), set(names) - set(text)
else:
    assert names == text, set(names) ^ set(text)
PY
done
holds samplers.json '[s for s in d["samplers"] if s["name"] == "ncg"][0]["exact"] is True'
holds samplers.json '"spin" in [s for s in d["samplers"] if s["name"] == "gwg"][0]["kinds"]'
holds samplers.json '"fixed-sums" in [s for s in d["samplers"] if s["name"] == "exchange"][0]["kinds"]'
holds samplers.json '"fixed-sums" not in [s for s in d["samplers"] if s["name"] == "gwg"][0]["kinds"]'
holds models.json '"side=10" in [m for m in d["models"] if m["name"] == "ising"][0]["settings"]'
holds ops.json '[o for o in d["ops"] if o["name"] == "dot"][0]["inputs"] == 2'
holds formats.json '[f for f in d["formats"] if f["name"] == "uai"][0]["suffixes"][0] == ".uai"'
refused "expected samplers, models, ops, formats or figures" list things --json
refused "expected ops or figures" list models --format markdown
refused "give one of them" list ops --json --format markdown

# ---- check

"$program" check rbm:visible=6,hidden=2 --json >check.json
holds check.json 'd["variables"] == 6 and d["width"] == 6 and d["dtype"] == "f32"'
holds check.json 'd["blocks"][0]["kind"] == "binary" and d["blocks"][0]["count"] == 6'
holds check.json '{p["name"]: p["shape"] for p in d["parameters"]}["W"] in ([6, 2], [2, 6])'
holds check.json '0 <= d["derivatives"]["gradient_error"] < 1e-2 and d["derivatives"]["kinks"] == 0'
holds check.json 'd["derivatives"]["first_order_error"] > 1e-4 and "gwg" in d["samplers"]'
"$program" check rbm:visible=6,hidden=2 | sed -n 's/^samplers *//p' >samplers.txt
holds check.json '" ".join(d["samplers"]) == open("samplers.txt").read().strip()'
"$program" check rbm:visible=6,hidden=2 | sed -n 's/^operations *//p' >operations.txt
holds check.json '" ".join(f"{k}:{n}" for k, n in d["operations"].items()) ==
    open("operations.txt").read().strip()'
refused "leave out --json" check ising --json --program

# ---- value: the same numbers

"$program" sample ising:side=3 --chains 2 --draws 4 --seed 1 --best best.npy --out draws.npy \
    >/dev/null
"$program" value ising:side=3 --state best.npy --codes >value.txt
"$program" value ising:side=3 --state best.npy --codes --json --out-gradient g.npy >value.json
holds value.json 'd["states"] == 1 and d["f"] == [float(open("value.txt").read())]'
[[ -e g.npy ]] || fail "value --json: no gradient"

# ---- train: the last line of the log; a report a line in a file

"$program" sample ising:side=4,theta=0.1 --chains 8 --draws 50 --out data.npy >/dev/null
train=(train ising:side=4 --data data.npy --kind draws --steps 2 --batch 10 --buffer 20 --report 2
    --threads 1 --fresh 0)
"$program" "${train[@]}" --iterations 7 --out run --json >train.json
tail -1 run/log.csv >last.txt
holds train.json 'd["iterations"] == 7 and d["diverged"] is False and 0 < d["acceptance_rate"] <= 1'
holds train.json 'd["verdict"] is None'
holds train.json 'all(abs(d[k] - float(open("last.txt").read().split(",")[c])) < 1e-3
    for k, c in (("seconds", 1), ("difference", 6), ("acceptance_rate", 7), ("mmd", 11)))'
"$program" "${train[@]}" --iterations 7 --out run --resume --json >nothing.json
holds nothing.json 'd["iterations"] == 7 and d["difference"] is None'
"$program" "${train[@]}" --iterations 7 --out judged --fresh 100 --json >judged.json
holds judged.json 'd["verdict"]["verdict"] in ("like", "close", "unlike", "unknown")
    and d["verdict"] == __import__("json").load(open("judged/verdict.json"))'
code=0
"$program" "${train[@]}" --iterations 7 --out bad --largest-difference 1e-9 --json >bad.json \
    2>message || code=$?
((code == 65)) && grep -q diverged message || fail "diverged: exit code $code, $(<message)"
holds bad.json 'd["iterations"] == 0 and d["diverged"] is True and d["difference"] is None'
"$program" "${train[@]}" --iterations 7 --out run --overwrite >lines.txt
[[ $(sed 's/ .*//; /^w/d' <(sed 's/^ *//' lines.txt) | xargs) == '2 4 6 7' ]] ||
    fail "train into a file: $(<lines.txt)"

python3 - <<'PY' || fail "--json: see above"
import json
words = open("holds").read().split("\0")[:-1]
wrong = [f"{file}: not so: {text}" for file, text in zip(words[::2], words[1::2])
         if not eval("(" + text + ")", {"d": json.load(open(file))})]
print(*wrong, sep="\n")
assert len(words) > 30 and not wrong
PY

# ---- on a terminal: the time left is the smaller one, of the draws and of --time

python3 - "$program" <<'PY' || fail "the progress line of sample --time"
import os, pty, re, sys
def on_terminal(words):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1]] + words)
    data = b""
    while True:
        try:
            part = os.read(fd, 4096)
        except OSError:
            break
        if not part:
            break
        data += part
    os.waitpid(pid, 0)
    return data.decode()
run = "sample ising:side=4 --chains 1 --draws 100 --threads 1 --warmup 10 --thin 100000000".split()
text = on_terminal(run + ["--time", "0.9s"])
left = [float(x) for x in re.findall(r"([0-9.e+inf]+) s left", text)]
assert left and max(left) <= 1, text
assert text.startswith("\rstarting") and text.rindex("\r\033[K") > text.index(" s left"), text
text = on_terminal(run + ["--time", "50s", "--draws", "20", "--thin", "100000"])
left = [float(x) for x in re.findall(r"([0-9.e+inf]+) s left", text)]
assert left and max(left) <= 50 and left[-1] < 50, text
PY
finish
