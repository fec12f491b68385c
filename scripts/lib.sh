# SPDX-License-Identifier: MIT
# What the scripts share; to be sourced. Changes to the root of the checkout.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Run a command; show what it printed only if it fails.
quietly() {
    if ! "$@" >"$logs/command" 2>&1; then
        cat "$logs/command" >&2
        echo "failed: $*" >&2
        return 1
    fi
}

as_root() {
    if ((EUID == 0)); then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# Install the Debian packages listed in the given files, if any is missing. Where there is no dpkg,
# Meson will say which library it does not find.
install_missing() {
    local package missing=()
    command -v dpkg-query >/dev/null || return 0
    for package in $(sed 's/#.*//' "$@"); do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    echo "installing: ${missing[*]}"
    if ((EUID != 0)) && ! command -v sudo >/dev/null; then
        echo "these packages are missing, and there is neither root nor sudo to install them;" \
             "as root: apt-get install ${missing[*]}" >&2
        return 1
    fi
    if ! { as_root apt-get update -q &&
           as_root apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
           >"$logs/apt" 2>&1; then
        tail -5 "$logs/apt" >&2
        echo "these packages are missing and could not be installed (no network?):" \
             "${missing[*]}" >&2
        return 1
    fi
}

# configure DIR [Meson's options]: unless it is configured already.
configure() {
    [[ -f $1/build.ninja ]] || quietly meson setup "$@"
}

# compile DIR [targets]
compile() {
    quietly ninja -C "$@"
}
