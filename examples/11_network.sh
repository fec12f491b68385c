#!/bin/sh
# Lesson 11. A Bayesian network from a file: exact answers against samples.
#
# Pearl's alarm (1988, section 2.2): burglars and earthquakes, both rare, set off an alarm, and two
# neighbours may call when they hear it. Both have called. Was it a burglar?
#
# Networks come as XMLBIF, which editors of such networks write, or as UAI; 'saltus list formats'.
# A network's f is the sum of the logarithms of its tables, so p(s) = exp f(s) with Z = 1, and with
# evidence Z = p(evidence). Sampler: gwg, Grathwohl et al. 2021, algorithm 1.
#
# Leaves alarm.xml and two files of marginals in the current directory.
set -eu

run() {
    echo "\$ $*"
    "$@"
    echo
}

# variable NAME: one that is no or yes; table NAME PARENTS.. : its probabilities follow on stdin.
variable() {
    echo "<VARIABLE TYPE=\"nature\"><NAME>$1</NAME>"
    echo '<OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>'
}
table() {
    echo "<DEFINITION><FOR>$1</FOR>"
    shift
    for parent; do echo "<GIVEN>$parent</GIVEN>"; done
    echo "<TABLE>$(cat)</TABLE></DEFINITION>"
}

# In a table the variable itself changes fastest (no yes no yes ..), then the last parent.
{
    echo '<BIF VERSION="0.3"><NETWORK><NAME>alarm</NAME>'
    for name in burglary earthquake alarm john mary; do variable $name; done
    echo '0.999 0.001' | table burglary
    echo '0.998 0.002' | table earthquake
    echo '0.999 0.001  0.71 0.29  0.06 0.94  0.05 0.95' | table alarm burglary earthquake
    echo '0.95 0.05  0.10 0.90' | table john alarm
    echo '0.99 0.01  0.30 0.70' | table mary alarm
    echo '</NETWORK></BIF>'
} >alarm.xml

# ---- Before anybody calls: log Z is 0 but for rounding, since probabilities add up to 1

run saltus exact alarm.xml

# ---- Both have called: exp(log Z) is the probability of that

run saltus exact alarm.xml --clamp john=yes,mary=yes --marginals exact.json

# Three variables are left, and need no samples. A hundred of them, densely connected, have no exact
# answer within reach, and samples still have theirs:
run saltus sample alarm.xml --clamp john=yes,mary=yes --sampler gwg --chains 8 --draws 5000 \
    --thin 5 --marginals sampled.json

# ---- Side by side. The files hold [[p(no), p(yes)], ..] in the order of the network's variables;
# those that were clamped are points.
yes() {
    tr -d ' \n' <"$1" | sed 's/.*"marginals":\[\[//; s/\]\].*//; s/\],\[/\n/g' | cut -d, -f2
    echo
}
yes exact.json >exact.txt
yes sampled.json >sampled.txt
echo "p(yes | both called)     exact   sampled"
printf '%s\n' burglary earthquake alarm john mary | paste - exact.txt sampled.txt |
    awk 'NF == 3 { printf "%-22s %7.3f   %7.3f\n", $1, $2, $3 }'

# A burglar is more likely than an earthquake, and neither is likely: most often the alarm went off
# by itself, or not at all and both neighbours called for no reason. How can that be, when alarms
# without a cause are as rare as 0.001? Burglars are as rare.
#
# How far may the columns differ? An average p over n independent draws has the standard error
# sqrt(p (1 - p) / n); n is the ESS, added up over the chains. Here that is about 0.002.

# SPDX-License-Identifier: MIT
