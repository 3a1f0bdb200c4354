"""Modules and tensors as torch has them, which nn.from_torch() recognises by the names of their classes."""


class Module:
    """Its attributes are the arguments; `children` maps names to modules, `tensors` is the state_dict."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def named_children(self):
        return vars(self).get("children", {}).items()

    def state_dict(self):
        return vars(self).get("tensors", {})


class Tensor:
    """What from_torch() uses of a tensor."""

    def __init__(self, array):
        self.array, self._version = array, 0

    def detach(self):
        return self

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def torch_like(kind, **attributes):
    """A module of the class `kind`."""
    return type(kind, (Module,), {})(**attributes)
