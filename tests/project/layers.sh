#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh SOURCE_DIR: a file of src/FOLDER includes only from its own folder and those below it;
# the program includes nothing of the library but <saltus/*.h>; no folder but two lists has more than
# 45 files; and in the models, runs, training and the program no call goes up, and no files call each
# other in a circle.
set -eu
cd "$1/src"
bad=0

# The folder, and those that it may include from; "models..." stands for all folders of models.
check()
{
    folder=$1
    allowed=$(echo "$@" | sed 's/\.\.\./(\/[a-z]+)?/g; s/ /|/g')
    if grep -nE '^ *# *include "[a-z/]+/[^/]*"' "$folder"/*.[ch] | grep -vE "include \"($allowed)/[^/]*\""; then
        echo "^ $folder may include from: $*"
        bad=1
    fi
    checked="$checked $folder"
    rules="$rules$*; "
}
checked=
rules=

below="core..."
check core core/vector
check core/vector
check core/threads core core/vector
check core/saved core
check parallel $below
check stats $below
check ad $below ad/ops
check ad/ops $below ad

below="$below stats ad..."
check models $below
check models/structure $below models
check models/make $below models models/structure
check models/exact $below models models/structure models/make
check models/levels $below models models/make
check models/formula $below models
check models/zoo $below models models/structure

below="$below models... parallel"
check samplers $below
for kind in local langevin blocks clusters relaxed own slice; do
    check samplers/$kind $below samplers
done
check samplers/proof $below samplers...

check io $below
for kind in arrays graphs networks alignments potts; do
    check io/$kind $below io
done
check io/tape $below io io/arrays io/networks
check io/draws $below io io/arrays
check figure $below io

check run/trajectory $below samplers
check run/denoising $below samplers run/trajectory
check run $below samplers... run/trajectory
check run/parts $below samplers... run run/trajectory
check run/results $below samplers... run run/parts run/trajectory
check run/search $below samplers... run run/parts
check run/chains $below samplers... run run/parts
check run/coupling $below samplers... run
check run/ais $below samplers run
check run/log_z $below samplers run run/parts run/trajectory
check train $below samplers... io... run... train/objectives
check train/objectives $below samplers... io... run... train
check report $below io... figure
check flat $below io run run/results run/trajectory train
# The program uses the library as any other program does: by <saltus/*.h> alone.
for folder in cli cli/bench cli/training cli/help cli/list; do
    check $folder cli...
    if grep -nEi 'sali_' "$folder"/*.[ch]; then
        echo "^ $folder uses what is not public"
        bad=1
    fi
done

for folder in $(find . -type d | sed 's/^\.\///; /^\.$/d' | sort); do
    case " $checked " in
    *" $folder "*) ;;
    *)
        echo "$folder: has no rule in this test"
        bad=1
        ;;
    esac
    files=$(find "$folder" -maxdepth 1 -type f | wc -l)
    case $folder in
    ad/ops | models/zoo) ;;
    *)
        if [ "$files" -gt 45 ]; then
            echo "$folder: $files files; expected 45 at most"
            bad=1
        fi
        ;;
    esac
done
# shellcheck disable=SC2046 # no name of a source holds a blank
awk -f ../tests/project/calls.awk -v rules="$rules" -v closed="run train models cli" \
    $(find . -name '*.[ch]' | sed 's/^\.\///' | sort) || bad=1
exit $bad
