"""A time step as a layer of PyTorch: `wb.torch.ContactLayer`."""

from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError("workbench's layers for PyTorch need it: pip install torch") from error
from torch.autograd.function import once_differentiable

from workbench.derivatives import layer
from workbench.derivatives.layer import StepOutputs
from workbench.language.formulation import Formulation
from workbench.verbs.find import find_formulation


class ContactLayer(torch.nn.Module):
    """A step of contact data under a formulation, differentiable by all data; options as in `derivatives.layer`.

    Call it with M, v, J_n, J_t, mu and others by name, tensors of the shapes of `ContactSystem` behind the axes of a
    batch; it returns `StepOutputs` v, p_n, p_t, p_b. It computes on the CPU in double precision, whatever the tensors
    are, a whole batch in one compiled call. Gradients have no gradients. Raises DataError and ModellingError as
    `layer.ContactLayer`.
    """

    def __init__(
        self, formulation: str | Formulation, size: tuple[int, int, int, int], h: float, normal: str = "gap",
        at_kinks: str = "limiting",
    ) -> None:  # fmt: skip
        super().__init__()
        self.layer = layer.ContactLayer(find_formulation(formulation), size, h, normal, at_kinks)

    def forward(self, **data: Any) -> StepOutputs:
        tensors = [torch.as_tensor(x) for x in data.values()]
        return StepOutputs(*_Steps.apply(self.layer, tuple(data), *tensors))


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, contact: layer.ContactLayer, names: tuple[str, ...], *tensors: Any) -> tuple[Any, ...]:
        given = {name: x.detach().cpu().numpy() for name, x in zip(names, tensors, strict=True)}
        step = contact.step(given)
        ctx.layer, ctx.step, ctx.tensors = contact, step, tensors
        like = next((x for x in tensors if x.is_floating_point()), torch.ones(()))
        return tuple(torch.from_numpy(x).to(like) for x in step.outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *due: Any) -> tuple[Any, ...]:
        found = ctx.layer.gradient(ctx.step, StepOutputs(*(x.detach().cpu().numpy() for x in due)))
        return None, None, *(torch.from_numpy(y).to(x) for y, x in zip(found.values(), ctx.tensors, strict=True))
