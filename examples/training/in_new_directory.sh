# sh in_new_directory.sh PROGRAM OPTIONS..: run PROGRAM DIR OPTIONS.. in a directory that goes away.
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
program=$1
shift
"$program" "$directory/run" "$@"

# SPDX-License-Identifier: MIT
