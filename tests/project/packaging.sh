#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packaging.sh BUILD_DIR SOURCE_DIR VERSION: every place that tells the version tells this one, and debian/
# is in step: what Meson installs is in one package, what the library needs is in Build-Depends, and the
# files can be read. A wheel has the Python package, the library and the program, and no more.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
build=$1 source=$2 version=$3
cd "$source"

# same WHERE FOUND
same() {
    [[ $2 == "$version" ]] || fail "$1 has version '$2', meson.build has '$version'"
}
same CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
same CHANGELOG.md "$(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' CHANGELOG.md | head -1)"
same python/saltus/_library.py "$(sed -n 's/^VERSION = "\(.*\)"/\1/p' python/saltus/_library.py)"
same packaging/conda-forge/meta.yaml "$(sed -n 's/^{% set version = "\(.*\)" %}$/\1/p' packaging/conda-forge/meta.yaml)"
same debian/changelog "$(sed -n '1s/^saltus (\(.*\)-[^-]*) .*/\1/p' debian/changelog)"

# The packages' lists of files are patterns; a folder stands for all in it.
mapfile -t patterns < <(sed 's/#.*//; /^$/d' debian/*.install)
[[ ${#patterns[@]} -gt 8 ]] || fail "only ${#patterns[@]} lists of files in debian/*.install"
declare -A used

# What Meson installs, where it would be in Debian.
installed() {
    python3 - "$build/meson-info" <<'END'
import json, re, sys
options = {o["name"]: o["value"] for o in json.load(open(sys.argv[1] + "/intro-buildoptions.json"))}
for path in json.load(open(sys.argv[1] + "/intro-installed.json")).values():
    path = path.removeprefix(options["prefix"] + "/")
    path = re.sub("^.*/(site|dist)-packages/", "lib/python3/dist-packages/", path)
    print("usr/" + path.replace(options["libdir"] + "/", "lib/TRIPLET/", 1))
END
}
while read -r path; do
    owners=0
    for pattern in "${patterns[@]}"; do
        # A pattern is one of paths.
        # shellcheck disable=SC2053
        if [[ $path == $pattern || $path == $pattern/* ]]; then
            owners=$((owners + 1))
            used[$pattern]=1
        fi
    done
    ((owners == 1)) || fail "$path is in $owners packages of debian/*.install"
done < <(installed)
for pattern in "${patterns[@]}"; do
    [[ -v used[$pattern] || $pattern == usr/lib/python3/* || $pattern == usr/share/man/* ||
       $pattern == usr/share/bash-completion ]] || fail "debian/*.install: nothing is installed as $pattern"
done

for package in $(sed 's/#.*//' scripts/packages | grep -e '-dev *$'); do
    [[ $package =~ ^(libc6|dpkg)-dev$ ]] || grep -q "^ $package,$" debian/control ||
        fail "debian/control does not build-depend on $package"
done
for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
    [[ -x debian/tests/$test ]] || fail "debian/tests/control: there is no program $test"
done

make_folder
if command -v meson >/dev/null; then
    meson setup "$folder/wheel" . -Dwheel=true >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
    diff <(printf '%s\n' '{bindir}/saltus' '{py_platlib}/saltus/'{_place.py,libsaltus.so.0,py.typed} \
               $(cd python && printf '{py_platlib}/%s\n' saltus/*.py) | sort) \
        <(python3 -c 'import json, sys
for files in json.load(sys.stdin).values():
    for file in files.values():
        print(file["destination"])' <"$folder/wheel/meson-info/intro-install_plan.json" | sort) ||
        fail "a wheel would have other files (>) than it should (<)"
fi

((failures == 0)) || finish
command -v dpkg-parsechangelog >/dev/null || skip "dpkg-dev is not there; only versions and lists were compared"
[[ $(dpkg-parsechangelog -S Source) == saltus ]] || fail "debian/changelog cannot be read"
perl -MDpkg::Control::Info -MDpkg::Deps -e '
    my $control = Dpkg::Control::Info->new("debian/control");
    for my $package ($control->get_source(), $control->get_packages()) {
        for my $field (grep { /Depends|Recommends|Suggests/ } keys %$package) {
            $package->{$field} =~ s/\$\{[^}]*Version\}/1/gi;
            $package->{$field} =~ s/<< \$\{[^}]*\}/<< 1/g;
            $package->{$field} =~ s/\$\{[^}]*\},?//g;
            defined deps_parse($package->{$field}, build_dep => 1) or die "debian/control: $field\n";
        }
    }' || fail "debian/control cannot be read"
finish
