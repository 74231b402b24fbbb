"""An asynchronous stand-in device for a torch that has none: a test instrument, never a source of results.

`sim_backend` makes it device "sim", `fake_cuda` (imported before torch) device "cuda" as a HIP build shows it.
"""
