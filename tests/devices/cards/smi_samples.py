"""Outputs of hy-smi and rocm-smi that are known, each with the facts that it tells of every card."""

from __future__ import annotations

from typing import Any, NamedTuple

MIB = 2**20


class Sample(NamedTuple):
    text: str
    cards: list[dict[str, Any]]


RULE = "=" * 86 + "\n"

OLD_DTK_TABLE = Sample(
    """\
DCU  Temp   AvgPwr   SCLK    MCLK  Fan   Perf    PwrCap  VRAM%  DCU%
0    44.0c  20.0W   1250Mhz 800Mhz 0.0%  manual  450.0W    0%   0%
""",
    [
        {
            "card": 0,
            "temperature_c": 44.0,
            "power_w": 20.0,
            "core_clock_mhz": 1250.0,
            "memory_clock_mhz": 800.0,
            "performance_level": "manual",
            "power_cap_w": 450.0,
            "utilization": 0.0,
        }
    ],
)

DTK_23_TABLE = Sample(
    """\
============================ System Management Interface =============================
======================================================================================
DCU     Temp     AvgPwr     Perf     PwrCap     VRAM%      DCU%      Mode
0       53.0C    96.0W      auto     300.0W     0%         0%        Normal
1       54.0C    97.0W      high     300.0W     12%        84%       N/A
======================================================================================
=================================== End of SMI Log ===================================
""",
    [
        {
            "card": 0,
            "temperature_c": 53.0,
            "power_w": 96.0,
            "performance_level": "auto",
            "power_cap_w": 300.0,
            "utilization": 0.0,
        },
        {
            "card": 1,
            "temperature_c": 54.0,
            "power_w": 97.0,
            "performance_level": "high",
            "power_cap_w": 300.0,
            "utilization": 84.0,
        },
    ],
)

DTK_26_TABLE = Sample(
    """\
HCU     Temp     AvgPwr     Perf     PwrCap     VRAM%      HCU%      Dec%      Enc%      Mode
0       50.0C    80.0W      auto     1000.0W    0%         0.0%      0.0%      0.0%      Normal
1       52.0C    89.0W      auto     1000.0W    0%         7.5%      1.0%      2.0%      Normal
""",
    [
        {
            "card": 0,
            "temperature_c": 50.0,
            "power_w": 80.0,
            "performance_level": "auto",
            "power_cap_w": 1000.0,
            "utilization": 0.0,
        },
        {
            "card": 1,
            "temperature_c": 52.0,
            "power_w": 89.0,
            "performance_level": "auto",
            "power_cap_w": 1000.0,
            "utilization": 7.5,
        },
    ],
)

ROCM_TABLE = Sample(
    """\
========================================= ROCm System Management Interface =========================================
=================================================== Concise Info ===================================================
Device  Node  IDs              Temp        Power     Partitions        SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
====================================================================================================================
0       1     0x74a1,   58197  42.0°C      135.0W    NPS1, SPX, 0        122Mhz  900Mhz  0%   auto  750.0W  17%    3%
1       2     0x74a1,   33617  43.0°C      N/A       NPS1, SPX, 0        131Mhz  900Mhz  0%   auto  0.0W    0%     0%
====================================================================================================================
=============================================== End of ROCm SMI Log ================================================
""",
    [
        {
            "card": 0,
            "temperature_c": 42.0,
            "power_w": 135.0,
            "core_clock_mhz": 122.0,
            "memory_clock_mhz": 900.0,
            "performance_level": "auto",
            "power_cap_w": 750.0,
            "utilization": 3.0,
        },
        {
            "card": 1,
            "temperature_c": 43.0,
            "core_clock_mhz": 131.0,
            "memory_clock_mhz": 900.0,
            "performance_level": "auto",
            "utilization": 0.0,
        },
    ],
)

ROCM_6_TABLE = Sample(
    """\
Device  [Model : Revision]    Temp        Power     Partitions      SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%
        Name (20 chars)       (Junction)  (Socket)  (Mem, Compute)
==================================================================================================================
3       [0x74a1 : 0x00]       38.0°C      137.0W    NPS1, SPX       131Mhz  900Mhz  0%   auto  750.0W    0%   0%
        AMD Instinct MI300X
==================================================================================================================
""",
    [
        {
            "card": 3,
            "temperature_c": 38.0,
            "power_w": 137.0,
            "core_clock_mhz": 131.0,
            "memory_clock_mhz": 900.0,
            "performance_level": "auto",
            "power_cap_w": 750.0,
            "utilization": 0.0,
        }
    ],
)

HCU_QUERIES = Sample(
    """\
HCU[0]          : Card Series: K100_AI
HCU[0]          : Bus Id : 0000:09:00.0         : Healthy
DCU[0] : vram Total Used Memory (MiB): 9000
DCU[0] : vram Total Memory (MiB): 65520
HCU[7]  : Temperature (Sensor edge) (C): 40.0
HCU[7]  : Temperature (Sensor junction) (C): 44.0
HCU[7]  : sclk clock level: 1 (600Mhz)
HCU[7]  : mclk clock level: 0 (1800Mhz)
HCU[7]  : Performance Level: auto
HCU[7]  : Average Graphics Package Power (W): 135.0
""",
    [
        {
            "card": 0,
            "product": "K100_AI",
            "bus": "0000:09:00.0",
            "used_bytes": 9000 * MIB,
            "total_bytes": 65520 * MIB,
        },
        {
            "card": 7,
            "temperature_c": 40.0,
            "core_clock_mhz": 600.0,
            "memory_clock_mhz": 1800.0,
            "performance_level": "auto",
            "power_w": 135.0,
        },
    ],
)

HCU_UTILIZATION = Sample(
    "HCU[0]\t\t: Average Graphics Package Power (W): 412.0\n"
    "HCU[0]\t\t: Average GFX Core Power (W): 280.0\n"
    "HCU[0]\t\t: HCU memory use (%): 72\n"
    "HCU[0]\t\t: HCU util in last second : 91%\n"
    "HCU[0]\t\t: CU util in last second : 64%\n"
    "HCU[0]\t\t: pcie clock level 1 (16.0GT/s, x16 800Mhz)\n"
    "HCU[0]\t\t: Max Graphics Package Power (W): 600.0\n"
    "HCU[0]\t\t: Available memory size (MiB): 18000\n"
    "HCU[0]\t\t: (Topology) Numa Node: 4\n"
    "Driver Version: 6.3.30-V1.4.1a\n",
    [
        {
            "card": 0,
            "power_w": 412.0,
            "power_cap_w": 600.0,
            "utilization": 91.0,
            "available_bytes": 18000 * MIB,
            "numa_node": 4,
            "driver": "6.3.30-V1.4.1a",
        }
    ],
)

ROCM_QUERIES = Sample(
    "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n\n"
    + RULE
    + "GPU[0]\t\t: VRAM Total Memory (B): 34342961152\n"
    "GPU[0]\t\t: VRAM Total Used Memory (B): 297611264\n"
    "GPU[1]\t\t: VRAM Total Memory (B): 34342961152\n"
    "GPU[1]\t\t: VRAM Total Used Memory (B): 0\n"
    "GPU[0]\t\t: GTT Total Memory (B): 67108864\n"
    "GPU[0]\t\t: VIS_VRAM Total Memory (B): 268435456\n"
    "GPU[0]\t\t: sclk clock level: S: (137Mhz)\n"
    "GPU[0]\t\t: mclk clock level: 3: (1200.Mhz)\n"
    "GPU[0]\t\t: Unable to detect fan speed for GPU 0\n"
    "GPU[0]\t\t: GPU use (%): 12\n"
    "GPU[0]\t\t: GPU Memory Allocated (VRAM%): 60\n"
    "GPU[0]\t\t: Card Series: \t\tN/A\n"
    "GPU[1]\t\t: Card Series: \t\tAMD Instinct MI300X OAM\n"
    "GPU[1]\t\t: Card Model: \t\t0x744b\n"
    "GPU[1]\t\t: Current Socket Graphics Package Power (W): 133.0\n"
    "GPU[0]\t\t: Average Graphics Package Power (W): N/A (Secondary die)\n" + RULE,
    [
        {
            "card": 0,
            "total_bytes": 34342961152,
            "used_bytes": 297611264,
            "core_clock_mhz": 137.0,
            "memory_clock_mhz": 1200.0,
            "utilization": 12.0,
        },
        {
            "card": 1,
            "total_bytes": 34342961152,
            "used_bytes": 0,
            "product": "AMD Instinct MI300X OAM",
            "power_w": 133.0,
        },
    ],
)

HCU_JSON = Sample(
    """\
{"card0": {"Device ID": "0x6320", "VBIOS version": "6.312...", "Driver version": "6.1.0",
  "Temperature (Sensor edge) (C)": "35", "Temperature (Sensor junction) (C)": "40",
  "Temperature (Sensor mem) (C)": "30", "Temperature (Sensor core) (C)": "33",
  "HCU use (%)": "10", "HCU memory use (%)": "5", "Voltage (mV)": "800"}}
""",
    [{"card": 0, "driver": "6.1.0", "temperature_c": 35.0, "utilization": 10.0}],
)

JSON_WITHOUT_COMMAS = Sample(
    '{"card0":{"Average Graphics Package Power (W)":"80.0""Average GFX Core Power (W)":"9.0"'
    '"Average Memory Power (W)":"35.0","HCU use (%)":"0.0","vram Total Used Memory (MiB)":"1166",'
    '"vram Total Memory (MiB)":"65520"}}',
    [
        {
            "card": 0,
            "power_w": 80.0,
            "utilization": 0.0,
            "used_bytes": 1166 * MIB,
            "total_bytes": 65520 * MIB,
        }
    ],
)

JSON_FROM_CARD_1 = Sample(
    """\
{
  "card1": {
    "Card Series": "Z100L",
    "PCI Bus": "0000:09:00.0 --> SN: T1 --> OAM ID: 0",
    "DCU use (%)": "50",
    "Max Graphics Package Power (W)": "300.0",
    "sclk clock speed:": "(1319Mhz)",
    "sclk clock level:": "7",
    "(Topology) Numa Node": "0"
  },
  "card2": {
    "Card Series": "Z100L",
    "PCI Bus": "0000:0C:00.0",
    "DCU use (%)": "0",
    "vram Total Memory (MiB)": 32752,
    "vram Total Used Memory (MiB)": 2
  },
  "system": {
    "Driver version": "5.16.18"
  }
}
""",
    [
        {
            "card": 1,
            "product": "Z100L",
            "bus": "0000:09:00.0",
            "utilization": 50.0,
            "power_cap_w": 300.0,
            "core_clock_mhz": 1319.0,
            "numa_node": 0,
            "driver": "5.16.18",
        },
        {
            "card": 2,
            "product": "Z100L",
            "bus": "0000:0c:00.0",
            "utilization": 0.0,
            "total_bytes": 32752 * MIB,
            "used_bytes": 2 * MIB,
            "driver": "5.16.18",
        },
    ],
)

CSV = Sample(
    "\ndevice,DCU use (%),DCU memory use (%)\ncard1,0,0\ncard2,35,7",
    [
        {"card": 1, "utilization": 0.0},
        {"card": 2, "utilization": 35.0},
    ],
)

CSV_AVAILABLE = Sample(
    "\ndevice,Available memory size (MiB)\ncard0,65280\ncard1,1200\n",
    [{"card": 0, "available_bytes": 65280 * MIB}, {"card": 1, "available_bytes": 1200 * MIB}],
)

ROCM_CSV = Sample(
    "device,VRAM Total Memory (B),VRAM Total Used Memory (B),Card vendor\n"
    'card0,51522830336,46856990720,"Advanced Micro Devices, Inc. [AMD/ATI]"\n',
    [{"card": 0, "total_bytes": 51522830336, "used_bytes": 46856990720}],
)

SEVERAL_QUERIES = Sample(
    DTK_26_TABLE.text
    + "\n"
    + "HCU[1]\t\t: vram Total Memory (MiB): 65520\n"
    + HCU_JSON.text
    + CSV_AVAILABLE.text,
    [
        {
            "card": 0,
            # The label of its own wins over the column.
            "temperature_c": 35.0,
            "utilization": 10.0,
            "power_w": 80.0,
            "performance_level": "auto",
            "power_cap_w": 1000.0,
            "driver": "6.1.0",
            "available_bytes": 65280 * MIB,
        },
        {
            "card": 1,
            "temperature_c": 52.0,
            "utilization": 7.5,
            "power_w": 89.0,
            "performance_level": "auto",
            "power_cap_w": 1000.0,
            "total_bytes": 65520 * MIB,
            "available_bytes": 1200 * MIB,
        },
    ],
)

SAMPLES = {
    "table of an old DTK": OLD_DTK_TABLE,
    "table of DTK 23.10": DTK_23_TABLE,
    "table of DTK 26.04": DTK_26_TABLE,
    "table of rocm-smi": ROCM_TABLE,
    "table of rocm-smi with models": ROCM_6_TABLE,
    "queries of hy-smi": HCU_QUERIES,
    "utilization of hy-smi": HCU_UTILIZATION,
    "queries of rocm-smi": ROCM_QUERIES,
    "JSON": HCU_JSON,
    "JSON without commas": JSON_WITHOUT_COMMAS,
    "JSON from card 1": JSON_FROM_CARD_1,
    "CSV": CSV,
    "CSV of available memory": CSV_AVAILABLE,
    "CSV of rocm-smi": ROCM_CSV,
    "several queries": SEVERAL_QUERIES,
}
