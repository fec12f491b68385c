#!/bin/sh
# layers.sh SOURCE_DIR: a file of src/LAYER includes only from its own layer and those below it.
set -eu
cd "$1/src"
bad=0
check()
{
    layer=$1
    shift
    allowed=$(echo "$layer" "$@" | tr ' ' '|')
    if grep -rnE '^ *# *include "[a-z]+/' "$layer" | grep -vE "include \"($allowed)/"; then
        echo "^ $layer may include from: $layer $*"
        bad=1
    fi
}
check core
check stats core
check ad core
check models core ad
check samplers core ad stats models
check io core ad stats models
check train core ad stats models samplers io
check report core ad stats models io
exit $bad
