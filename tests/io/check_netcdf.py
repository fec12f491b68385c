#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_netcdf.py SALTUS: what 'saltus sample --out run.nc' writes opens in xarray as ArviZ's readers
expect it, and holds the same run as the .npy. Exits 77, skipped, without xarray and netCDF4 or if the
program was built without libnetcdf."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import netCDF4
    import numpy as np
    import xarray
except ImportError as error:
    system = '/usr/bin/python3'  # Debian's packages, where another Python comes first
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system] + sys.argv)
    print('SKIPPED: this needs python3-xarray and python3-netcdf4:', error)
    sys.exit(77)

saltus = os.path.abspath(sys.argv[1])


def run(command, **keywords):
    return subprocess.run([saltus] + command.split(), check=True, capture_output=True, text=True,
                          **keywords).stdout


def check_layout(path, sampler):
    with netCDF4.Dataset(path) as file:
        groups = list(file.groups)
        assert file.data_model == 'NETCDF4'
    for group in groups:
        with xarray.open_dataset(path, group=group) as data:
            for name in list(data.variables):
                # a variable bears a dimension's name only as its coordinate
                assert name not in data.dims or data[name].dims == (name,), name
            for name in data.dims:
                assert name in data.coords, name
            for name in ('created_at', 'creation_library', 'creation_library_version',
                         'creation_library_language', 'inference_library', 'model',
                         'inference_library_version', 'arviz_version', 'seed'):
                assert name in data.attrs, name
            assert data.attrs['sampler'] == sampler
            assert np.datetime64(data.attrs['created_at'][:19]) > np.datetime64('2020-01-01')
            configuration = json.loads(data.attrs['configuration'])
            assert configuration['sampler'] == sampler
            if group != 'observed_data':
                assert list(data.attrs['sample_dims']) == ['chain', 'draw']
                assert data.chain.dtype == data.draw.dtype == np.int64
                assert (data.draw == np.arange(data.sizes['draw'])).all()
                for array in data.data_vars.values():
                    assert array.dims[:2] == ('chain', 'draw')
                    assert array.encoding['zlib'] and array.encoding['complevel'] == 4
    return groups


def check_run(model, blocks, options, sampler, scale=1, offset=0):
    """Blocks: name, first variable, end, dtype in the file. Values are scale times codes plus offset."""
    out = ' --dtype f64 --seed 5 --chains 3 --draws 1500 --warmup 90 --json ' + options
    summary = json.loads(run(f'sample {model} --out run.nc --save-warmup' + out))
    assert json.loads(run(f'sample {model} --out run.npy' + out))['log_prob_mean'] == \
        summary['log_prob_mean']
    groups = check_layout('run.nc', sampler)
    draws = np.load('run.npy')
    with xarray.open_dataset('run.nc', group='posterior') as posterior:
        assert list(posterior.data_vars) == [block[0] for block in blocks], posterior
        for name, first, end, dtype in blocks:
            assert posterior[name].encoding['dtype'] == dtype, posterior[name].encoding
            assert (posterior[name].values == scale * draws[:, :, first:end].astype(int) + offset).all()
    np.save('states.npy', draws.reshape(-1, draws.shape[2]).astype(np.int32))
    run(f'value {model} --state states.npy --codes --dtype f64 --out-value f.npy')
    f = np.load('f.npy').reshape(draws.shape[:2])
    with xarray.open_dataset('run.nc', group='sample_stats') as stats:
        assert np.allclose(stats['lp'].values, f, rtol=1e-9, atol=1e-9)
        assert np.isclose(stats['lp'].values.mean(), summary['log_prob_mean'], rtol=1e-8)
        assert np.isclose(stats['jump'].values.mean(), summary['mean_jump'], rtol=1e-8)
        rate = stats['acceptance_rate'].values
        assert ((rate >= 0) & (rate <= 1)).all()
        assert abs(rate.mean() - summary['acceptance_rate']) < 0.05
        if summary['step_size'] is None:
            assert np.isnan(stats['step_size'].values).all()
        else:
            assert np.allclose(stats['step_size'].values, summary['step_size'])
    with xarray.open_dataset('run.nc', group='warmup_posterior') as warmup:
        assert warmup.sizes['draw'] == 90
    with xarray.open_dataset('run.nc', group='warmup_sample_stats') as warmup:
        assert np.isfinite(warmup['lp'].values).all()
    by_value, by_code = (json.loads(run(f'stats run.{end} --json'))['variables'] for end in ('nc', 'npy'))
    for value, code in zip(by_value, by_code):
        assert np.isclose(value['mean'], scale * code['mean'] + offset, rtol=1e-8, atol=1e-8)  # of ten digits
        for figure in ('rhat', 'ess_bulk'):
            assert (value[figure] is None) == (code[figure] is None), figure
            assert value[figure] is None or np.isclose(value[figure], code[figure], rtol=1e-8), figure
    return groups


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    probe = subprocess.run([saltus, 'sample', 'ising:side=2', '--draws', '2', '--out', 'a.nc'],
                           capture_output=True, text=True)
    if 'built without libnetcdf' in probe.stderr:
        print('SKIPPED: built without libnetcdf')
        sys.exit(77)
    assert probe.returncode == 0, probe.stderr
    u1, i4 = np.dtype('uint8'), np.dtype('int32')
    check_run('ising:side=4', [('spin', 0, 16, u1)], '--sampler ncg', 'ncg', 2, -1)
    check_run('potts:side=3,states=3', [('site', 0, 9, u1)], '--sampler gwg', 'gwg')
    check_run('poisson:dim=2,rate=4', [('count', 0, 2, i4)], '--sampler lb', 'lb')
    groups = check_run('ising:side=3', [('spin', 0, 9, u1)], '--sampler gibbs --clamp 3=1,7=0',
                       'gibbs', 2, -1)
    assert 'observed_data' in groups
    with xarray.open_dataset('run.nc', group='observed_data') as observed:
        assert list(observed['spin'].values) == [1, -1]
        assert list(observed['spin_site'].values) == [3, 7]
        assert observed['spin'].encoding['dtype'] == np.uint8
    assert not {'run.nc.tmp', 'run.nc.draws'} & set(os.listdir('.'))
