#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# netCDF-C names no lock. A netCDF-4 file that another program holds locked for writing, as libhdf5 does
# with every file that it writes, is refused by nc_open with NC_EHDFERR (-101), "NetCDF: HDF error": the
# very text that damaged files get. Whoever looks at a run's file while it is written is told that it
# is broken, and a program that calls netCDF-C has to ask for the lock (flock) itself.
#
# Seen with Debian 12: netcdf-bin and libnetcdf19 1:4.9.0-3+b1, libhdf5-103-1 1.10.8+repack1-1.
# The packages are unpacked in a temporary folder. Exits with 1 if the behaviour has changed.
set -euo pipefail
version=1:4.9.0-3+b1 hdf5=1.10.8+repack1-1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

mkdir -p debs/partial root
apt-get -q -y -o Dir::State::status=/dev/null -o Dir::Cache::archives="$folder/debs/" \
    -o Debug::NoLocking=1 --no-install-recommends --download-only install \
    "netcdf-bin=$version" "libnetcdf19=$version" "libhdf5-103-1=$hdf5" "libhdf5-hl-100=$hdf5" >apt.log
for deb in debs/*.deb; do
    dpkg-deb -x "$deb" root
done
libraries=root/lib/x86_64-linux-gnu:root/usr/lib/x86_64-linux-gnu
run() { root/lib64/ld-linux-x86-64.so.2 --library-path "$libraries" "root/usr/bin/$@"; }

printf 'netcdf f { dimensions: n = 2; variables: double x(n); data: x = 1, 2; }\n' >f.cdl
run ncgen -k nc4 -o f.nc f.cdl
echo "netcdf-bin, libnetcdf19 $version, libhdf5-103-1 $hdf5"

# A file that is free, one that is locked as its writer locks it, and one that is no longer whole.
free=$(run ncdump -h f.nc 2>&1 | head -1) || true
locked=$(flock --exclusive f.nc "$BASH" -c "$(declare -f run); libraries=$libraries; run ncdump -h f.nc" 2>&1) || true
head -c 200 f.nc >short.nc
damaged=$(run ncdump -h short.nc 2>&1) || true
printf 'free     %s\nlocked   %s\ndamaged  %s\n' "$free" "$locked" "$damaged"

[[ $free == "netcdf f {" && $locked == *"NetCDF: HDF error" && $damaged == *"NetCDF: HDF error" ]] ||
    { echo "this has changed"; exit 1; }
