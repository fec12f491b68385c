#!/usr/bin/env python3
"""Lesson 13. From PyTorch weights to samples, and Saltus called from Python.

A restricted Boltzmann machine has f(s) = sum_j softplus((W s)_j + c_j) + b's (Grathwohl et al.
2021, section 6.1). Its weights are arrays with names; the file format for such arrays is
safetensors. In PyTorch

    safetensors.torch.save_file({"W": W, "b": b, "c": c}, "weights.safetensors")

writes it, and JAX and NumPy can, too. W is [hidden, visible], as torch.nn.Linear keeps its weight.
Here plain Python writes it, so that nothing needs to be installed: a length, a header, the numbers.

A model that is not among the ready-made ones is written once in C (lesson 2) and saved as model.xml
by sal_model_save; opened by that name below, it takes its weights in the same way.
"""
import ctypes
import json
import math
import struct
from ctypes import byref, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p

VISIBLE, HIDDEN = 10, 6
W = [[math.sin(1 + 3 * j + 5 * i * i) for i in range(VISIBLE)] for j in range(HIDDEN)]
b = [-0.3 * (i % 3) for i in range(VISIBLE)]
c = [0.2 * j - 0.5 for j in range(HIDDEN)]


# ---- 1. The weights, as a file


def save_safetensors(path, tensors):
    """tensors: {name: (shape, numbers)}, as 32-bit floats."""
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        begin = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


save_safetensors("weights.safetensors", {
    "W": ([HIDDEN, VISIBLE], [w for row in W for w in row]),
    "b": ([VISIBLE], b),
    "c": ([HIDDEN], c),
})

# ---- 2. Saltus, by ctypes: the functions of <saltus/saltus.h> as they are

saltus = ctypes.CDLL("libsaltus.so.0")
libc = ctypes.CDLL(None)
stdout = c_void_p.in_dll(libc, "stdout")


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 1024)]


class Options(ctypes.Structure):
    """The first fields of sal_run_options. Zeros stand for defaults, so the rest is zeros."""
    _fields_ = [("sampler", c_char_p), ("chains", c_int64), ("warmup", c_int64),
                ("draws", c_int64), ("thin", c_int64), ("seed", c_int64), ("rest", c_char * 2048)]


class Exact(ctypes.Structure):
    _fields_ = [("log_z", c_double), ("log_prob_mean", c_double), ("oracle", c_char_p),
                ("width", c_int32), ("memory", c_double), ("rest", c_char * 256)]


def call(name, *arguments):
    """Call a function whose last parameter is an error; its message becomes an exception."""
    error = Error()
    if getattr(saltus, name)(*arguments, byref(error)) != 0:
        raise RuntimeError(error.message.decode())


model, run, exact = c_void_p(), c_void_p(), Exact()
name = f"rbm:visible={VISIBLE},hidden={HIDDEN}".encode()
call("sal_model_open", name, c_int(0), byref(model))
call("sal_model_load_params", model, b"weights.safetensors")

# ---- 3. The same number on both sides?

state = [1, 0, 1, 1, 0, 0, 1, 0, 1, 0]
codes, f, gradient = (c_int32 * VISIBLE)(*state), c_double(), (c_double * VISIBLE)()
call("sal_model_evaluate", model, c_int64(1), codes, byref(f), gradient, None)
units = [sum(w * s for w, s in zip(row, state)) + cj for row, cj in zip(W, c)]
by_hand = sum(math.log1p(math.exp(u)) for u in units) + sum(x * s for x, s in zip(b, state))
print(f"f of a state: by Saltus {f.value:.4f}, by Python {by_hand:.4f}")
print("its gradient:", " ".join(f"{g:.3f}" for g in gradient), end="\n\n", flush=True)

# ---- 4. Samples, and how good they are: 1024 states can be listed

options = Options(sampler=b"ncg", chains=16, draws=4000, thin=4)
sampled, truth = ((c_double * (2 * VISIBLE))() for _ in range(2))
call("sal_sample", model, byref(options), byref(run))
saltus.sal_run_print_summary(run, stdout)
libc.fflush(stdout)
call("sal_run_marginals", run, sampled)
call("sal_model_exact", model, None, byref(exact), truth, None, None)

print("\npixel      p(1) sampled   exact")
for i in range(VISIBLE):
    print(f"{i:5d}      {sampled[2 * i + 1]:12.3f} {truth[2 * i + 1]:7.3f}")

# ---- 5. A mistake is a message

try:
    call("sal_model_load_params", model, b"no-such.safetensors")
except RuntimeError as error:
    print("\nmistake:", error)

saltus.sal_run_destroy(run)
saltus.sal_model_destroy(model)

# SPDX-License-Identifier: MIT
