#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 5. Draws for ArviZ: xarray in memory, netCDF on disk, and a run that goes on later.

ArviZ reads both: arviz.from_netcdf("run.nc"), and run.to_datatree(), which the functions of ArviZ 1 take; before
version 1 arviz.InferenceData(posterior=run.to_xarray(), sample_stats=run.to_xarray("sample_stats")). What is used
of xarray here works without ArviZ.
"""
import numpy as np

import saltus as sal

try:
    import xarray
except ImportError:
    print("this lesson needs xarray (Debian: python3-xarray)")
    raise SystemExit(77)

spin = sal.spins(4, name="spin", dims=["site"], coords={"site": ["north", "east", "south", "west"]})
colour = sal.categorical(3, 4, name="colour")
f = 0.4 * (spin[:-1] * spin[1:]).sum() + (colour * np.log([1, 2, 3, 4])).sum()
model = sal.Model(f, name="mixed")

# ---- 1. A file that is written while the run goes on. If it is killed, it can be resumed.

run = sal.sample(model, "gibbs", chains=4, draws=1000, thin=7, seed=1, out="run.nc")
longer = sal.resume("run.nc", draws=3000, model=model)
print("resumed:", longer.draws.shape, " the first draws are the same:",
      bool((longer.draws[:, :1000] == run.draws).all()))

# ---- 2. In memory, a variable for each block, by value, with the names and labels that its axes were given

data = longer.to_xarray()
print("\n" + "\n".join(f"{name:<8} {data[name].dims} {data[name].dtype}" for name in data.data_vars))
share = (data["colour"] == 3).mean().item()
print(f"colour 3 in {share:.3f} of the draws; exactly {4 / 10:.3f}")
correlation = (data["spin"].sel(site="north") * data["spin"].sel(site="east")).mean(("chain", "draw")).item()
print(f"neighbours' correlation {correlation:.3f}; exactly {np.tanh(0.4):.3f}")

# ---- 3. The file has the same, packed as codes that xarray unpacks, in ArviZ's groups. (Names and labels of axes
#         are in files of run.to_netcdf("draws.nc"), which is for draws that are in memory.)

posterior = xarray.open_dataset("run.nc", group="posterior")
print("\nin run.nc:", dict(posterior.sizes))
print("the same values:", all(bool((posterior[name].values == data[name].values).all()) for name in data.data_vars))
