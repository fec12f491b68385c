# SPDX-License-Identifier: MIT
# For Nix, from this source tree:
#   nix-build -E '(import <nixpkgs> { }).callPackage ./packaging/nix/package.nix { }'
# The library, the program, and a module for python3.withPackages.
{ lib, stdenv, fetchFromGitHub, meson, ninja, pkg-config
, bzip2, hdf5, jansson, libpng, libxml2, libzip, netcdf, openblas, python3Packages, sleef, xz, zlib }:

let
  # Headers only; Nixpkgs has no package of them.
  random123 = fetchFromGitHub {
    owner = "DEShawResearch";
    repo = "random123";
    rev = "v1.14.0";
    sha256 = "1awsf27k3mrp8rlc6wqzm2a5lndggp18fvzir395b3hljyx45bxg";
  };
in
python3Packages.toPythonModule (stdenv.mkDerivation {
  pname = "saltus";
  version = builtins.head (builtins.match ".*version: '([0-9.]+)'.*" (builtins.readFile ../../meson.build));
  src = lib.cleanSource ../..;

  nativeBuildInputs = [ meson ninja pkg-config python3Packages.python python3Packages.numpy ];
  buildInputs = [ bzip2 hdf5 jansson libpng libxml2 libzip netcdf openblas sleef xz zlib ];
  propagatedBuildInputs = [ python3Packages.numpy ];

  env.NIX_CFLAGS_COMPILE = "-isystem ${random123}/include";
  mesonBuildType = "release";
  mesonFlags = [
    "-Dmpi=disabled" "-Dbzip2=enabled" "-Dhdf5=enabled" "-Dlzma=enabled" "-Dnetcdf=enabled" "-Dpng=enabled"
    "-Dzip=enabled" "-Dzlib=enabled" "-Dpython=enabled" "-Dtests=false" "-Dexamples=false" "-Ddocs=disabled"
  ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/saltus --version
    PYTHONPATH=$out/${python3Packages.python.sitePackages}:$PYTHONPATH python3 -m saltus --version
  '';

  meta = {
    description = "Gradient-based MCMC on discrete spaces";
    license = [ lib.licenses.mit lib.licenses.bsd3 ]; # Random123's headers
    platforms = lib.platforms.linux;
    mainProgram = "saltus";
  };
})
