"""One time step of a pseudo-spectral solver: two-dimensional turbulence in a periodic box."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import dcu_asv_ext as dcu

from .common import sized, sizes_of

STEP, VISCOSITY = 1e-3, 1e-4
#: Transforms of one step: one at each end, and four backward and one forward in each of two stages.
TRANSFORMS = 12


def make_flow(
    device: torch.device,
    cpu: tuple[int, int] = (1, 512),
    accelerator: tuple[int, int] = (4, 2048),
) -> tuple[Any, ...]:
    """Sizes: members of the ensemble, points along a side. Vorticity of a few random large waves."""
    members, side = sized(device, cpu, accelerator)
    ky = torch.fft.fftfreq(side, 1 / side, device=device)[:, None]
    kx = torch.fft.rfftfreq(side, 1 / side, device=device)[None]
    square = kx**2 + ky**2
    envelope = torch.exp(-((square.sqrt() - 6) ** 2) / 8)
    noise = torch.fft.rfft2(torch.randn(members, side, side, device=device))
    vorticity = torch.fft.irfft2(noise * envelope, s=(side, side))
    return 3 * vorticity / vorticity.std(), kx, ky


def exact_step(vorticity: torch.Tensor, kx: torch.Tensor, ky: torch.Tensor) -> torch.Tensor:
    """The same step in float64 with scipy.fft."""
    import scipy.fft

    side = vorticity.shape[-1]
    x, y = kx.double().cpu().numpy(), ky.double().cpu().numpy()
    square = x**2 + y**2
    inverse = 1 / np.where(square == 0, 1, square)
    kept = (np.abs(x) < side / 3) & (np.abs(y) < side / 3)

    def to_grid(spectrum: Any) -> Any:
        return scipy.fft.irfft2(spectrum, s=(side, side))

    def advection(spectrum: Any) -> Any:
        u, v = to_grid(1j * y * spectrum * inverse), to_grid(-1j * x * spectrum * inverse)
        slope_x, slope_y = to_grid(1j * x * spectrum), to_grid(1j * y * spectrum)
        return -scipy.fft.rfft2(u * slope_x + v * slope_y) * kept

    start = scipy.fft.rfft2(vorticity.double().cpu().numpy())
    damping = 0.5 * STEP * VISCOSITY * square
    first = advection(start)
    middle = ((1 - damping) * start + STEP * first) / (1 + damping)
    end = ((1 - damping) * start + STEP * (first + advection(middle)) / 2) / (1 + damping)
    return torch.from_numpy(to_grid(end))


def flow_bytes() -> int:
    """Each transform reads and writes its field once; wave numbers and intermediate products are left out."""
    members, side = sizes_of(make_flow)
    return TRANSFORMS * 2 * members * side**2 * 4


@dcu.benchmark(setup=make_flow, reference=exact_step, atol=2e-5, work={"bytes": flow_bytes})
def vorticity_step(vorticity: torch.Tensor, kx: torch.Tensor, ky: torch.Tensor) -> torch.Tensor:
    """Heun's method for advection, Crank-Nicolson for viscosity, two-thirds dealiasing; twelve FFTs, float32."""
    size = vorticity.shape[-2:]
    square = kx**2 + ky**2
    inverse = 1 / torch.where(square == 0, 1, square)
    kept = (kx.abs() < size[1] / 3) & (ky.abs() < size[0] / 3)

    def advection(spectrum: torch.Tensor) -> torch.Tensor:
        stream = spectrum * inverse
        u, v = torch.fft.irfft2(1j * ky * stream, s=size), torch.fft.irfft2(-1j * kx * stream, s=size)
        slope_x = torch.fft.irfft2(1j * kx * spectrum, s=size)
        slope_y = torch.fft.irfft2(1j * ky * spectrum, s=size)
        return torch.fft.rfft2(u * slope_x + v * slope_y) * -kept.to(torch.float32)

    start = torch.fft.rfft2(vorticity)
    damping = 0.5 * STEP * VISCOSITY * square
    first = advection(start)
    middle = ((1 - damping) * start + STEP * first) / (1 + damping)
    end = ((1 - damping) * start + 0.5 * STEP * (first + advection(middle))) / (1 + damping)
    return torch.fft.irfft2(end, s=size)
