"""Options that several commands have: spelled, and explained, once."""

from __future__ import annotations

import argparse


def add_config(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="the asv.conf.json (default: the one in this folder)"
    )


def add_place(parser: argparse._ActionsContainer, machine: str = " alone (default: of every one)") -> None:
    """--machine and --env, one each. machine: how the help goes on."""
    parser.add_argument("--machine", metavar="NAME", help=f"results of this machine{machine}")
    parser.add_argument(
        "--env", metavar="NAME", help="results of this environment alone (its name, or a part of it)"
    )


def add_bench(
    parser: argparse.ArgumentParser,
    what: str = "only benchmarks",
    name: str = "function.metric",
    more: str = "",
) -> None:
    """what is chosen; name: what the expression is found in, after its module; more: how the help ends."""
    add_repeated(
        parser, "--bench", "REGEX", f"{what} where it is found in module.{name}(params); repeatable{more}"
    )


def add_metric(parser: argparse.ArgumentParser, what: str = "only this metric") -> None:
    add_repeated(parser, "--metric", "NAME", f"{what}, such as latency or peak_allocated; repeatable")


def add_vary(parser: argparse.ArgumentParser) -> None:
    add_repeated(
        parser,
        "--vary",
        "NAME",
        "a difference that is the experiment (torch, dtk, an environment variable, ...); repeatable",
    )


def add_no_history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-history", action="store_true", help="do not learn the noise from earlier commits"
    )


def add_repeated(parser: argparse._ActionsContainer, option: str, metavar: str, text: str) -> None:
    """An option that may be given several times; its values are a list."""
    parser.add_argument(option, metavar=metavar, action="append", default=[], help=text)


def add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def add_forms(parser: argparse.ArgumentParser) -> None:
    """--json or --markdown."""
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--markdown", action="store_true", help="print it for a merge request")
