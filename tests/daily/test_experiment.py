"""What is compared with what, as far as words decide it."""

from __future__ import annotations

import pytest

from dcu_asv_ext.daily.experiment import ExperimentError, Variable, parse_variable


@pytest.mark.parametrize(
    "given, found",
    [
        (["OMP_NUM_THREADS=8,16"], Variable("OMP_NUM_THREADS", "8", "16")),
        (["FLAG=,1"], Variable("FLAG", None, "1")),
        (["FLAG=1,"], Variable("FLAG", "1", None)),
        (["CONF=a:1,b:2", "CONF="], Variable("CONF", "a:1,b:2", None)),
        (["CONF=a=1", "CONF=a=2"], Variable("CONF", "a=1", "a=2")),
    ],
)
def test_two_values_of_a_variable(given: list[str], found: Variable) -> None:
    assert parse_variable(given) == found


@pytest.mark.parametrize(
    "given, sentence",
    [
        (["FUSED"], "--variant FUSED: a function's variant is a label.*--against FUNCTION.*NAME=A,B"),
        (["A=1"], "takes two values"),
        (["A=1,2,3"], "give it twice"),
        (["A=1", "B=2"], "two values of one variable"),
        (["A=1", "A=2", "A=3"], "takes two values"),
        (["A=1,1"], "both values are '1'"),
        (["=1,2"], "'' is no name"),
        (["2X=1,2"], "'2X' is no name"),
        (["DCU_ASV_DEVICE=cpu,cuda"], "it chooses the device"),
    ],
)
def test_what_is_no_such_thing(given: list[str], sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        parse_variable(given)


def test_labels() -> None:
    variable = Variable("FLAG", None, "1")
    assert (variable.label(variable.before), variable.label(variable.after)) == ("FLAG not set", "FLAG=1")
