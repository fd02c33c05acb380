"""What a refusal has to say, and a plain formulation to spoil."""

import pytest

from workbench.language.assemble.find import compiled
from workbench.language.formulation import ContactSymbols, formulation
from workbench.language.modelling import (
    Declaration,
    complements,
    declare,
    equals,
    free,
    nonneg,
)
from workbench.support.errors import ModellingError


def refusal(function, *args, error=ModellingError, **kwargs) -> str:
    """The message of the refusal; always one line."""
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    return message


def assert_names(message: str, *culprits: str) -> None:
    for culprit in culprits:
        assert culprit in message


def plain(F=None, p=None, hooks=None, **recover):
    """A formulation of the frictionless kind with one thing changed: the row F(s, v, p), the partner, the recovery."""

    @formulation("plain", friction="none", source="this test")
    def build(s: ContactSymbols) -> Declaration:
        v, partner = free("v", s.n), p or nonneg("p_n", s.r)
        row = F(s, v, partner) if F else s.un(v, partner)
        back = {key: value(v, partner) for key, value in recover.items()}
        return declare(
            equals(s.balance(v, partner)),
            *s.bilateral(v),
            complements(row, partner),
            recover=dict(v=v, p_n=partner) | back,
            hooks=hooks,
        )

    return build


def compile_plain(F=None, p=None, hooks=None, **recover):
    return compiled(plain(F, p, hooks, **recover), 4, 0, 2, 1)
