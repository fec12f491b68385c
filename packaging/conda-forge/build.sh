#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Run by conda-build in the source tree; MESON_ARGS comes from conda-forge's compilers.
set -euo pipefail
export CPPFLAGS="${CPPFLAGS-} -I$SRC_DIR/random123/include"
# MESON_ARGS is several words.
# shellcheck disable=SC2086
meson setup build-conda ${MESON_ARGS---prefix=$PREFIX --libdir=lib} -Dmpi=disabled -Dbzip2=enabled -Dhdf5=enabled \
    -Dlzma=enabled -Dnetcdf=enabled -Dpng=enabled -Dzip=enabled -Dzlib=enabled -Dpython=enabled -Dtests=false \
    -Dexamples=false -Ddocs=disabled
ninja -C build-conda -j "${CPU_COUNT-2}"
meson install -C build-conda --no-rebuild
