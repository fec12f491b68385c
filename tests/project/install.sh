#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh BUILD_DIR SOURCE_DIR SANITIZE COMPILER...: an installed copy has all its parts, and a
# program elsewhere builds against it with what pkg-config says, and with CMake; against a build that
# is not installed, too.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
build=$1 source=$2 sanitize=$3
shift 3
compiler=("$@")
[[ $sanitize == none ]] || skip "a sanitized library wants programs that are sanitized, too"

make_folder
meson install -C "$build" --no-rebuild --quiet --destdir "$folder/copy" >"$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }

# The one file FILE of the copy.
find_one() {
    local found
    found=$(find "$folder/copy" -path "*/$1")
    [[ -n $found && $found != *$'\n'* ]] || { echo "FAILED: not installed once: $1" >&2; exit 1; }
    echo "$found"
}

description=$(find_one pkgconfig/saltus.pc)
include=$(dirname "$(find_one include/saltus/saltus.h)")
diff <(cd "$source/include/saltus" && ls ./*.h) <(cd "$include" && ls ./*.h)
library=$(dirname "$(find_one libsaltus.so)")
find_one libsaltus.a >/dev/null
find_one share/saltus/saltus-tape.rng >/dev/null
diff <(cd "$source/docs" && ls ./*.md) <(cd "$(dirname "$(find_one doc/saltus/models.md)")" && ls ./*.md)
program=$(find_one bin/saltus)
version=$("$program" --version)
if [[ -f $build/src/cli/saltus.1 ]]; then # not in a cross build
    pages=$(dirname "$(find_one man1/saltus.1)")
    diff <(cd "$build/src/cli" && ls saltus*.1) <(cd "$pages" && ls)
    bash -n "$(find_one bash-completion/completions/saltus.bash)"
fi

# Where the copy would go is the first line of saltus.pc; where it is, the folder.
prefix=$(sed -n 's/^prefix=//p' "$description")
sed -i "s|^prefix=.*|prefix=$folder/copy$prefix|" "$description"
export PKG_CONFIG_PATH=${description%/*} LD_LIBRARY_PATH=$library

expect() {
    local said
    said=$("$1")
    [[ $said == "$version" ]] || { echo "FAILED: $1 printed '$said', not '$version'"; exit 1; }
}

cp "$source"/tests/install/* "$folder"
cd "$folder"
# compile PROGRAM [SOURCES]: of program.c, or others.
compile() {
    local sources=("${@:2}")
    # The flags are several words.
    # shellcheck disable=SC2046
    "${compiler[@]}" -std=c11 -Wall -Wextra -Werror "${sources[@]-program.c}" -o "$1" \
        $(pkg-config --cflags --libs saltus) -lm
}
compile by_pkg_config
expect ./by_pkg_config

applications=$source/examples/applications
compile summary "$applications"/summary/*.c
compile retrieval "$applications/retrieval.c"
compile contacts "$applications/contacts.c"
./summary "$applications/story.txt" --words 25 | grep -q '^Bakers like rye.$'

(
    export PKG_CONFIG_PATH=$build/meson-uninstalled LD_LIBRARY_PATH=$build/src
    compile uninstalled
    expect ./uninstalled
)

command -v cmake >/dev/null || skip "cmake is not there; pkg-config alone was tried"
{ CC=${compiler[-1]} cmake -S . -B by_cmake && cmake --build by_cmake; } >"$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
expect by_cmake/program
