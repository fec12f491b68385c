#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# report_look.sh PROGRAM: in Chromium, pages of reports fit phones, desktops and paper, and are dark
# where the reader wants that. Exits 77, skipped, where there is no browser.
source "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
program=$1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[[ -n $browser ]] || skip "how pages look: Chromium is not installed"
make_folder
cd "$folder"
browse() {
    timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" \
        "$@" 2>/dev/null
}

"$program" sample potts:side=2,states=3 --chains 3 --draws 200 --out draws.npy >/dev/null
"$program" compare ising:side=3,theta=0.1 --samplers gibbs,gwg,ncg,pavg --chains 4 --warmup 20 \
    --draws 150 --json >compare.json
"$program" train rbm:hidden=4 --data digits --steps 2 --iterations 6 --batch 10 --buffer 20 \
    --report 2 --out rbm >/dev/null
inputs=(draws.npy compare.json rbm)
if "$program" sample ising:side=3,theta=0.1 --sampler ncg --chains 3 --draws 300 --warmup 60 \
    --save-warmup --out run.nc >/dev/null 2>&1; then
    inputs+=(run.nc) # built with libnetcdf
fi
"$program" report "${inputs[@]}" -o all.html

# ---- width; and colours

# Frames of these widths (windows are not made narrower than 500), and what is wider; columns of
# R-hat and ESS that begin out of sight; and names that go when a table is moved.
cat >frame.html <<'HTML'
<!DOCTYPE html><title>wait</title><meta name="color-scheme" content="light dark">
<iframe width="390" height="800" src="all.html"></iframe>
<iframe width="1280" height="800" src="all.html"></iframe>
<script>
addEventListener("load", () => {
    const style = getComputedStyle(frames[0].document.body);
    document.title = [...document.querySelectorAll("iframe")].map(frame => {
        const page = frame.contentDocument;
        const wide = [...page.querySelectorAll("body *")].filter(
            e => e.getBoundingClientRect().right > +frame.width + 1 && !e.closest(".scroll") &&
                 !e.closest("svg"));
        const figures = page.querySelectorAll("figure svg").length;
        const tables = [...page.querySelectorAll(".scroll")];
        const hidden = tables.flatMap(table => [...table.querySelectorAll("th")].filter(
            th => ["R-hat", "ESS", "ESS/s"].includes(th.textContent) &&
                  th.getBoundingClientRect().right > table.getBoundingClientRect().right));
        tables.forEach(table => table.scrollLeft = 1e4);
        const gone = tables.filter(table => [...table.querySelectorAll("th:first-child,td:first-child")]
            .some(e => e.getBoundingClientRect().left < table.getBoundingClientRect().left));
        return "frame " + frame.width + " scroll " + page.documentElement.scrollWidth +
            " wide " + wide.length + " hidden " + hidden.length + " gone " + gone.length +
            " figures " + figures;
    }).join("; ") + "; behind " + style.backgroundColor + " text " + style.color;
});
</script>
HTML
measure() {
    browse --allow-file-access-from-files "$@" --dump-dom "file://$folder/frame.html" |
        grep -oE '<title>[^<]*' | head -1
}
title=$(measure)
pattern='^<title>frame 390 scroll ([0-9]+) wide 0 hidden 0 gone 0 figures [0-9]{2,}; '
pattern+='frame 1280 scroll ([0-9]+) wide 0 hidden 0 gone 0 figures [0-9]{2,}; behind'
if [[ $title =~ $pattern ]]; then
    ((BASH_REMATCH[1] <= 390 && BASH_REMATCH[2] <= 1280)) || fail "too wide: $title"
else
    fail "too wide, out of sight, or not measured: $title"
fi

# ---- light and dark: the colours behind the page and of its text, by what the reader prefers

light=$(sed -n 's/.*; behind //p' <<<"$title")
dark=$(measure --blink-settings=preferredColorScheme=0 --force-dark-mode |
    sed -n 's/.*; behind //p')
[[ $light == rgb*' text '* && $dark == rgb*' text '* ]] ||
    fail "colours were not measured: '$light', '$dark'"
[[ ${light%% text*} != "${dark%% text*}" ]] || fail "the dark page is as the light one: $light"
[[ ${light##* text} != "${dark##* text}" ]] || fail "the dark page has the text of the light one"

# ---- paper

browse --no-pdf-header-footer --print-to-pdf=all.pdf "file://$folder/all.html" || true
[[ $(head -c 5 all.pdf) == '%PDF-' ]] || fail "no PDF"
if command -v pdfinfo >/dev/null; then
    pages=$(pdfinfo all.pdf | sed -n 's/^Pages: *//p')
    ((pages > 1)) || fail "the PDF has $pages pages"
else
    echo "pdfinfo is not installed: pages are not counted"
fi
finish
