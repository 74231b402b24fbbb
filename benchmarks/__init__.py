"""This repository's own suite: real device workloads, parts of them, and the extension's own hot paths.

Every benchmark declares a reference or a check. Parameter values are the same on every device, so that series
keep their names; what a value stands for depends on the device: small shapes on the CPU (a call takes 5 to
100 ms on two cores), realistic ones on an accelerator with 64 GB. The shapes are the defaults of setup's `cpu`
and `accelerator` arguments, so that changing a shape changes the benchmark's version.
"""
