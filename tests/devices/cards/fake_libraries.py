"""Management libraries of two kinds, compiled from a few lines of C, that answer, refuse, hang or crash."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

NVML = r"""
typedef unsigned long long u64;
typedef struct { u64 total, free, used; } memory;
typedef struct { unsigned gpu, memory; } busy;
typedef struct { unsigned pid; u64 used; unsigned instance, compute; } process;
static int card;
HELPERS
int nvmlInit_v2(void) { START return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **handle) {
    if (strcmp(address, "0000:09:00.0")) return 6;
    *handle = &card;
    return 0;
}
#ifndef BARE
int nvmlDeviceGetMemoryInfo(void *handle, memory *out) {
    if (handle != &card) return 1;
    memory told = {1000, 400, USED};
    *out = told;
    return 0;
}
int nvmlDeviceGetClockInfo(void *handle, unsigned kind, unsigned *out) {
    if (kind != 1 && kind != 2) return 2;
    *out = kind == 1 ? 1980 : 2619;
    return REFUSED;
}
int nvmlDeviceGetPowerUsage(void *handle, unsigned *out) { *out = 345678; return 0; }
int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *out) { *out = 44; return sensor; }
int nvmlDeviceGetUtilizationRates(void *handle, busy *out) { out->gpu = 25; out->memory = 99; return 0; }
int nvmlDeviceGetPerformanceState(void *handle, int *out) { *out = 2; return 0; }
int REASONS(void *handle, u64 *out) { *out = 0x1 | 0x4 | 0x40 | 0x100; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v2(void *handle, unsigned *count, process *out) {
    if (*count < LISTED) { *count = LISTED; return 7; }
    *count = LISTED;
    for (unsigned i = 0; i < LISTED; i++) {
        process told = {100 + i, i ? 50 * 1048576ull : ~0ull, 0, 0};
        out[i] = told;
    }
    return 0;
}
#endif
"""
NVML_DEFAULTS = {
    "HELPERS": "",
    "START": "",
    "USED": "600",
    "REFUSED": "0",
    "REASONS": "nvmlDeviceGetCurrentClocksEventReasons",
    "LISTED": "2",
}

RSMI = r"""
#include <stdint.h>
int rsmi_init(uint64_t flags) { START return 0; }
int rsmi_num_monitor_devices(uint32_t *out) { *out = CARDS; return 0; }
int rsmi_dev_pci_id_get(uint32_t card, uint64_t *out) {
    uint64_t places[] = {0x0400, 0x10000900, 0x100000900};
    *out = places[card];
    return 0;
}
#ifndef BARE
int rsmi_dev_memory_usage_get(uint32_t card, int kind, uint64_t *out) { *out = 600 + card; return kind; }
int rsmi_dev_memory_total_get(uint32_t card, int kind, uint64_t *out) { *out = 1000; return kind; }
int rsmi_dev_busy_percent_get(uint32_t card, uint32_t *out) { *out = 25; return 0; }
int rsmi_dev_perf_level_get(uint32_t card, int *out) { *out = LEVEL; return 0; }
int rsmi_dev_power_ave_get(uint32_t card, uint32_t sensor, uint64_t *out) { *out = 135500000; return sensor; }
int rsmi_dev_temp_metric_get(uint32_t card, uint32_t sensor, int metric, int64_t *out) {
    *out = 40000 + sensor;
    return sensor < FIRST_SENSOR ? 2 : metric;
}
struct frequencies { FLAG uint32_t count, current; uint64_t hertz[33]; };
int rsmi_dev_gpu_clk_freq_get(uint32_t card, int kind, struct frequencies *out) {
    struct frequencies told = {FLAG_VALUE 3, 1, {300000000, kind ? 1800000000 : 1500000000, 1700000000}};
    *out = told;
    return 0;
}
#endif
"""
RSMI_DEFAULTS = {"START": "", "CARDS": "3", "LEVEL": "3", "FIRST_SENSOR": "0", "FLAG": "", "FLAG_VALUE": ""}

CRASH = "*(volatile int *)0 = 1;"
HANG = "for (;;) pause();"


def nvml(root: Path, **changed: str) -> None:
    """Puts a library where a made-up machine would have it. changed: a macro -> its text."""
    _compile(root / "usr/lib64/libnvidia-ml.so.1", NVML, {**NVML_DEFAULTS, **changed})


def rsmi(root: Path, folder: str = "opt/hyhal/lib", **changed: str) -> None:
    _compile(root / folder / "librocm_smi64.so", RSMI, {**RSMI_DEFAULTS, **changed})


def _compile(place: Path, text: str, macros: dict[str, str]) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    place.parent.mkdir(parents=True)
    source = place.parent / "fake.c"
    defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    source.write_text(f"#include <string.h>\n#include <fcntl.h>\n#include <unistd.h>\n{defined}{text}")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-w", "-o", str(place), str(source)], check=True, timeout=120
    )
