"""A time step as a function of JAX: `wb.jax.ContactLayer`."""

from typing import Any

try:
    import jax
except ImportError as error:
    raise ImportError("workbench's layers for JAX need it: pip install jax") from error
import jax.numpy as jnp
import numpy as np

from workbench.derivatives import layer
from workbench.derivatives.layer import StepOutputs
from workbench.language.formulation import Formulation
from workbench.verbs.find import find_formulation


class ContactLayer:
    """A step of contact data under a formulation, differentiable by all data; options as in `derivatives.layer`.

    Call it with M, v, J_n, J_t, mu and others by name, arrays of the shapes of `ContactSystem` behind the axes of a
    batch; it returns `StepOutputs` v, p_n, p_t, p_b. It works within `jax.jit`, `jax.vmap` and `jax.grad`, and computes
    on the host in double precision, a whole batch in one compiled call. Gradients are in reverse mode and have no
    gradients. Raises DataError and ModellingError as `layer.ContactLayer`; a step without an answer is JAX's error.
    """

    def __init__(
        self, formulation: str | Formulation, size: tuple[int, int, int, int], h: float, normal: str = "gap",
        at_kinks: str = "limiting",
    ) -> None:  # fmt: skip
        self.layer = layer.ContactLayer(find_formulation(formulation), size, h, normal, at_kinks)

    def __call__(self, **data: Any) -> StepOutputs:
        names = tuple(data)
        step = jax.custom_vjp(lambda *arrays: self._steps(names, arrays))
        step.defvjp(lambda *arrays: (self._steps(names, arrays), arrays), lambda *kept: self._back(names, *kept))
        return StepOutputs(*step(*map(jnp.asarray, data.values())))

    def _steps(self, names: tuple[str, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Outputs of a batch, computed on the host."""
        n, m, r, d = self.layer.size
        batch = self.layer.batch({name: x.shape for name, x in zip(names, arrays, strict=True)})
        kind = jnp.result_type(float, *arrays)
        shapes = tuple(jax.ShapeDtypeStruct((*batch, size), kind) for size in (n, r, d * r, m))

        def on_host(*given: Any) -> tuple[Any, ...]:
            step = self.layer.step(dict(zip(names, map(np.asarray, given), strict=True)))
            return tuple(x.astype(kind) for x in step.outputs)

        found: tuple[Any, ...] = jax.pure_callback(on_host, shapes, *arrays, vmap_method="broadcast_all")
        return found

    def _back(self, names: tuple[str, ...], arrays: tuple[Any, ...], due: Any) -> tuple[Any, ...]:
        """Gradients by the arrays, computed on the host, which makes the steps anew."""
        shapes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays)

        def on_host(due: Any, *given: Any) -> tuple[Any, ...]:
            data = dict(zip(names, map(np.asarray, given), strict=True))
            found = self.layer.gradient(self.layer.step(data), StepOutputs(*map(np.asarray, due)))
            return tuple(found[name].astype(x.dtype) for name, x in data.items())

        found: tuple[Any, ...] = jax.pure_callback(on_host, shapes, due, *arrays, vmap_method="broadcast_all")
        return found
