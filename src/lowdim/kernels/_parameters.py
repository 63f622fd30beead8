"""scikit-learn's get_params and set_params for frozen dataclasses that may hold others of their kind."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Self

from lowdim.errors import BadParameter

__all__ = ["NestedParameters"]


class NestedParameters:
    """Parameters of a frozen dataclass and, under `name__parameter`, of the ones nested in it."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, for `clone` and grid search; `deep` adds those of the nested kernels.

        The second γ of `rbf(0.5) + 2 * rbf(0.1)` is `k2__kernel__gamma`.
        """
        own = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if deep:
            for name, part in self._nested().items():
                own[name] = part
                own |= {f"{name}__{inner}": value for inner, value in part.get_params().items()}
        return own

    def set_params(self, **values: Any) -> Self:
        """Change parameters in place, as scikit-learn's searches do to their own clones."""
        known, nested, own = self.get_params(deep=False), self._nested(), {}
        for name, value in values.items():
            head, _, rest = name.partition("__")
            if head in nested:
                part: Any = nested[head]
                nested[head] = replace(part).set_params(**{rest: value}) if rest else value
            elif name in known:
                own[name] = value
            else:
                raise BadParameter(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self.get_params())}."
                )
        changed = {**(self._fields_of_nested(nested) if nested else {}), **own}
        new = replace(self, **changed)  # type: ignore[type-var]
        for name in known:
            object.__setattr__(self, name, getattr(new, name))
        return self

    def _nested(self) -> dict[str, NestedParameters]:
        """The nested objects by the names that prefix their parameters."""
        own = self.get_params(deep=False)
        return {name: value for name, value in own.items() if isinstance(value, NestedParameters)}

    def _fields_of_nested(self, nested: dict[str, Any]) -> dict[str, Any]:
        """The fields that hold these."""
        return nested
