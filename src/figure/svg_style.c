/* SPDX-License-Identifier: MIT */
/* Colours: series, which follow the reader's light or dark setting, and heat maps. */
#include <math.h>

#include "figure/figure.h"

/* The hues are those of Okabe & Ito 2008 ("Color universal design"), which colour-blind readers
 * can tell apart; the lightest are darker here on white, the darkest lighter on black. A value
 * without var() comes first, for programs that do not know it. Print is as for light. */
const char sali_figure_style[] =
    ".saltus-figure{--sf-ink:#1a1a1a;--sf-soft:#595959;--sf-grid:#e2e2e2;--sf-paper:#fff;"
    "--sf-1:#0072b2;--sf-2:#d55e00;--sf-3:#008763;--sf-4:#b5548b;--sf-5:#b88100;--sf-6:#3a92cc;"
    "--sf-7:#1a1a1a}\n"
    "@media screen and (prefers-color-scheme:dark){.saltus-figure{--sf-ink:#e6e6e6;"
    "--sf-soft:#a8a8a8;--sf-grid:#3a3a3a;--sf-paper:#16181c;--sf-1:#56b4e9;--sf-2:#f0803c;"
    "--sf-3:#2fc292;--sf-4:#de9cc2;--sf-5:#e9b440;--sf-6:#8fb8ff;--sf-7:#e6e6e6}}\n"
    ".saltus-figure text{font-family:system-ui,sans-serif;font-size:12px;fill:#1a1a1a;"
    "fill:var(--sf-ink);font-variant-numeric:tabular-nums}\n"
    ".saltus-figure .title{font-weight:600}\n"
    ".saltus-figure .main{font-weight:600;font-size:14px}\n"
    ".saltus-figure .soft{fill:#595959;fill:var(--sf-soft)}\n"
    ".saltus-figure .paper{fill:#fff;fill:var(--sf-paper)}\n"
    ".saltus-figure .axis{fill:none;stroke:#595959;stroke:var(--sf-soft)}\n"
    ".saltus-figure .grid{fill:none;stroke:#e2e2e2;stroke:var(--sf-grid)}\n"
    ".saltus-figure .s1{color:#0072b2;color:var(--sf-1)}\n"
    ".saltus-figure .s2{color:#d55e00;color:var(--sf-2)}\n"
    ".saltus-figure .s3{color:#008763;color:var(--sf-3)}\n"
    ".saltus-figure .s4{color:#b5548b;color:var(--sf-4)}\n"
    ".saltus-figure .s5{color:#b88100;color:var(--sf-5)}\n"
    ".saltus-figure .s6{color:#3a92cc;color:var(--sf-6)}\n"
    ".saltus-figure .s7{color:#1a1a1a;color:var(--sf-7)}\n"
    ".saltus-figure .line{fill:none;stroke:currentColor;stroke-width:1.7;stroke-linejoin:round}\n"
    ".saltus-figure .thin{stroke-width:.8}\n"
    ".saltus-figure .band{fill:currentColor;fill-opacity:.2;stroke:none}\n"
    ".saltus-figure .bar{fill:currentColor;stroke:none}\n"
    ".saltus-figure .marker{fill:currentColor;stroke:currentColor;stroke-width:1.2}\n"
    ".saltus-figure .hatch{fill:none;stroke:#fff;stroke:var(--sf-paper);stroke-width:1.2}\n"
    ".saltus-figure .pointer{fill:none;stroke:#1a1a1a;stroke:var(--sf-ink);stroke-width:1.3}\n"
    ".saltus-figure .across{stroke-dasharray:1.5 2.5}\n"
    ".saltus-figure .halo{fill:none;stroke:#fff;stroke:var(--sf-paper);stroke-width:4}\n"
    ".saltus-figure .label{paint-order:stroke;stroke:#fff;stroke:var(--sf-paper);"
    "stroke-width:3;stroke-linejoin:round}\n";

int64_t sali_style_colour(int64_t style)
{
    return style % SALI_STYLES;
}

int64_t sali_style_dash(int64_t style)
{
    return (style + 3 * (style / SALI_STYLES)) % SALI_STYLES;
}

/* viridis by Smith & van der Walt (CC0), perceptually uniform, at nine places. */
static const uint32_t viridis[] = { 0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21908c,
                                    0x27ad81, 0x5dc863, 0xaadc32, 0xfde725 };

/* Blue, white and red of equal lightness on both sides. */
static const uint32_t two_sided[] = { 0x2166ac, 0x92c5de, 0xf7f7f7, 0xf4a582, 0xb2182b };

uint32_t sali_colour(double t, bool diverging)
{
    const uint32_t *nodes = diverging ? two_sided : viridis;
    int last = diverging ? 4 : 8;
    double at = fmin(fmax(t, 0), 1) * last;
    int i = at < last ? (int)at : last - 1;
    uint32_t colour = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = nodes[i] >> shift & 255, b = nodes[i + 1] >> shift & 255;
        colour |= (uint32_t)lrint(a + (at - i) * (b - a)) << shift;
    }
    return colour;
}
