#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# r_example.sh BUILD_DIR SOURCE_DIR SANITIZE: the example for R compiles and runs as docs/languages.md
# says, and its sampled probability is near the exact one.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
build=$1 source=$2 sanitize=$3
[[ $sanitize == none ]] || skip "a sanitized library wants programs that are sanitized, too"
for needed in R Rscript make pkg-config; do
    command -v $needed >/dev/null || skip "$needed is not there (Debian: r-base-core, make, pkg-config)"
done

make_folder
cp "$source"/examples/languages/saltus* "$folder"
cd "$folder"
export PKG_CONFIG_PATH=$build/meson-uninstalled LD_LIBRARY_PATH=$build/src R_ENVIRON_USER=/dev/null
PKG_CFLAGS="$(pkg-config --cflags saltus) -Wall -Wextra -Werror" PKG_LIBS=$(pkg-config --libs saltus) \
    R --vanilla CMD SHLIB saltus_r.c >log 2>&1 || { cat log; exit 1; }
Rscript --vanilla saltus.R >output 2>&1 || { cat output; exit 1; }
cat output
grep -q '^variables, draws, chains: 16 5000 4' output || fail "the sizes are others"
awk '/^p\(\+1\)/ { p[++n] = $3 } END { exit !(n == 2 && (p[1] - p[2])^2 < 0.01^2) }' output ||
    fail "the sampled probability is not near the exact one"
grep -q "^mistake: .*did you mean 'chains'" output || fail "a mistake is not told"

# The page shows the file as it is.
diff <(awk '/^```r$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/docs/languages.md") saltus.R ||
    fail "docs/languages.md does not show saltus.R as it is"
finish
