"""What every backend for bindings promises of its classes; knows no backend. A test module of a backend has

@pytest.fixture(scope="module")
def built() -> Built: ...

class TestBindings(BindingsContract): ...
"""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import frozen

from gradspec.emit.members import is_kept_tensor, release_flag
from gradspec.ir import Op, Program, SavedValue
from gradspec.printer import print_expr
from gradspec.types import is_tensor_list

from .samples import Sample, samples, tensor

RELEASED = "Trying to backward through the graph a second time"
READS = 100_000


@frozen
class Built:
    """An extension module that `build_extension` made, and the program whose nodes it has."""

    module: Any
    program: Program

    def make(self, op: Op) -> Any:
        """A node of an op."""
        return self.module.make(op.node)

    def filled(self, op: Op) -> Any:
        """A node that keeps the first sample of each of its values."""
        node = self.make(op)
        for value in op.saved:
            self.module.put(node, value.name, first_sample(value).put)
        return node

    def kept(self) -> Iterator[tuple[Op, SavedValue]]:
        """All that nodes keep."""
        return ((op, value) for op in self.program.nodes for value in op.saved)

    def one_a_type(self) -> list[tuple[Op, SavedValue]]:
        """Of each type, and kept as an input and as an output, one value."""
        found = {(str(value.type), value.origin): (op, value) for op, value in self.kept()}
        return [found[key] for key in sorted(found)]

    def first(self, type_: str, origin: str = "input") -> tuple[Op, str]:
        """A node that keeps a value of a type, and the value's name."""
        return next((op, v.name) for op, v in self.kept() if str(v.type) == type_ and v.origin == origin)


def value_samples(value: SavedValue) -> list[Sample]:
    """What such a value can be."""
    return samples(
        "Tensor" if is_kept_tensor(value.type, value.origin == "output") and str(value.type) == "Scalar" else str(value.type)
    )


def first_sample(value: SavedValue) -> Sample:
    """One of them, defined and not empty."""
    return value_samples(value)[0]


def is_tensors(value: SavedValue) -> bool:
    """Whether there is a handle for it."""
    return is_kept_tensor(value.type, value.origin == "output") or is_tensor_list(value.type)


def same(read: Any, expected: Any) -> bool:
    """Whether a value is the expected one, of the same type throughout; tensors and symbolic ints by identity."""
    import torch

    if isinstance(expected, torch.Tensor):
        return read is expected
    if isinstance(expected, torch.SymInt):
        return isinstance(read, torch.SymInt) and read.node is expected.node
    if isinstance(expected, tuple):
        fields = getattr(expected, "_fields", None)
        alike = isinstance(read, tuple) and len(read) == len(expected) and getattr(read, "_fields", None) == fields
        return alike and all(map(same, read, expected))
    return type(read) is type(expected) and repr(read) == repr(expected)


class BindingsContract:
    """The tests. `built` is a fixture of the module that has the class which derives from this one."""

    def test_there_is_one_class_a_node(self, built: Built) -> None:
        classes = {op.node: getattr(built.module, str(op.node)) for op in built.program.nodes}
        assert len(set(map(id, classes.values()))) == len(built.program.nodes)
        for name, class_ in classes.items():
            node = built.module.make(name)
            assert type(node) is class_
            assert (class_.__name__, node.name()) == (name, name)

    def test_a_class_has_getters_for_all_that_its_node_keeps(self, built: Built) -> None:
        for op in built.program.nodes:
            names = {f"_saved_{value.name}" for value in op.saved}
            names |= {f"_raw_saved_{value.name}" for value in op.saved if is_tensors(value)}
            assert names <= set(vars(getattr(built.module, str(op.node)))), op.node

    def test_what_is_kept_is_read(self, built: Built) -> None:
        wrong = []
        for op, value in built.kept():
            node = built.make(op)
            for sample in value_samples(value):
                built.module.put(node, value.name, sample.put)
                read = getattr(node, f"_saved_{value.name}")
                if not same(read, sample.read):
                    wrong.append(f"{op.node}._saved_{value.name}, {value.type}: {read!r}, and not {sample.read!r}")
        assert wrong == []

    def test_nothing_can_be_set_or_deleted(self, built: Built) -> None:
        op, name = built.first("Tensor")
        node = built.filled(op)
        with pytest.raises(AttributeError):
            setattr(node, f"_saved_{name}", None)
        with pytest.raises(AttributeError):
            delattr(node, f"_saved_{name}")

    def test_released_tensors_and_lists_say_so(self, built: Built) -> None:
        wrong = []
        for op in built.program.nodes:
            node = built.filled(op)
            built.module.release(node)
            for value in op.saved:
                released = is_tensors(value) or release_flag(value) != ""
                for prefix in ["_saved_", "_raw_saved_"] if is_tensors(value) else ["_saved_"]:
                    try:
                        read = getattr(node, prefix + value.name)
                        if released or not same(read, first_sample(value).read):
                            wrong.append(f"{op.node}.{prefix}{value.name} is {read!r}")
                    except RuntimeError as error:
                        if not released or RELEASED not in str(error):
                            wrong.append(f"{op.node}.{prefix}{value.name}: {error}")
        assert wrong == []

    def test_an_empty_list_that_was_released_says_so(self, built: Built) -> None:
        for type_ in ("Tensor[]", "Scalar[]"):
            op, name = built.first(type_)
            node = built.make(op)
            built.module.put(node, name, ())
            assert getattr(node, f"_saved_{name}") == ()
            built.module.release(node)
            with pytest.raises(RuntimeError, match=RELEASED):
                getattr(node, f"_saved_{name}")

    def test_an_absent_tensor_stays_absent_after_release(self, built: Built) -> None:
        op, name = built.first("Tensor?")
        node = built.make(op)
        built.module.put(node, name, None)
        built.module.release(node)
        assert getattr(node, f"_saved_{name}") is None
        getattr(node, f"_raw_saved_{name}")

    def test_an_output_comes_back_with_its_node(self, built: Built) -> None:
        op, name = built.first("Tensor", "output")
        node = built.make(op)
        output = built.module.put_output(node, name, tensor())
        read = getattr(node, f"_saved_{name}")
        assert read.grad_fn is output.grad_fn is node
        assert read is not output
        assert bool((read == output).all())

    # ------------------------------------------------------------------------------------------------------------ handles

    def test_hooks_pack_and_unpack(self, built: Built) -> None:
        for type_ in ("Tensor", "Tensor[]"):
            op, name = built.first(type_)
            node = built.filled(op)
            (handle, *_) = _as_tuple(getattr(node, f"_raw_saved_{name}"))
            (before, *_) = _as_tuple(getattr(node, f"_saved_{name}"))
            assert handle.data is before
            handle.register_hooks(lambda packed: packed.tolist(), lambda kept: tensor() + len(kept))
            (after, *_) = _as_tuple(getattr(node, f"_saved_{name}"))
            assert bool((after == tensor() + len(before)).all())
            assert handle.data == before.tolist()
            built.module.release(node)
            for read in (f"_saved_{name}", f"_raw_saved_{name}"):
                with pytest.raises(RuntimeError, match=RELEASED):
                    getattr(node, read)

    def test_asking_for_a_handle_unpacks_nothing(self, built: Built) -> None:
        def refuse(_: Any) -> Any:
            raise AssertionError("unpacked")

        for type_ in ("Tensor", "Tensor[]"):
            op, name = built.first(type_)
            node = built.filled(op)
            (handle, *_) = _as_tuple(getattr(node, f"_raw_saved_{name}"))
            handle.register_hooks(lambda packed: packed, refuse)
            _as_tuple(getattr(node, f"_raw_saved_{name}"))
            with pytest.raises(AssertionError, match="unpacked"):
                getattr(node, f"_saved_{name}")

    def test_a_handle_outlives_its_node_object_and_its_release(self, built: Built) -> None:
        for type_ in ("Tensor", "Tensor[]"):
            op, name = built.first(type_)
            node = built.filled(op)
            handles = _as_tuple(getattr(node, f"_raw_saved_{name}"))
            assert len(handles) == len(_as_tuple(getattr(node, f"_saved_{name}"))) > 0
            alive = node
            del node
            gc.collect()
            assert all(handle.data is not None for handle in handles)
            built.module.release(alive)
            del alive
            gc.collect()
            for handle in handles:
                with pytest.raises(RuntimeError):
                    handle.register_hooks(lambda packed: packed, lambda kept: kept)
                with pytest.raises(RuntimeError):
                    handle.unpack()

    def test_a_handle_keeps_no_more_alive_than_its_node(self, built: Built) -> None:
        for type_ in ("Tensor", "Tensor[]"):
            op, name = built.first(type_)
            node = built.make(op)
            kept = tensor()
            gone = weakref.ref(kept)
            built.module.put(node, name, [kept] if type_ == "Tensor[]" else kept)
            handle = getattr(node, f"_raw_saved_{name}")
            del kept, node
            gc.collect()
            assert gone() is not None
            del handle
            gc.collect()
            assert gone() is None

    # --------------------------------------------------------------------------------------------------------- references

    def test_reading_leaves_references_as_they_were(self, built: Built) -> None:
        for op, value in built.one_a_type():
            for sample in value_samples(value):
                node = built.make(op)
                built.module.put(node, value.name, sample.put)
                read = getattr(node, f"_saved_{value.name}")
                watched = [None, True, False, sample.read, *_parts(read), node]
                before = [sys.getrefcount(each) for each in watched]
                name = f"_saved_{value.name}"
                for _ in range(READS // len(value_samples(value))):
                    getattr(node, name)
                after = [sys.getrefcount(each) for each in watched]
                drift = [b - a for a, b in zip(before, after, strict=True)]
                # Other code of the interpreter holds a few more or fewer of what all share.
                assert all(abs(d) < 100 for d in drift), (op.node, value.name, sample.read, drift)

    def test_handles_leave_references_as_they_were(self, built: Built) -> None:
        for type_ in ("Tensor", "Tensor[]"):
            op, name = built.first(type_)
            node = built.filled(op)
            held = getattr(node, f"_raw_saved_{name}")
            before, blocks = sys.getrefcount(node), sys.getallocatedblocks()
            for _ in range(READS):
                getattr(node, f"_raw_saved_{name}")
            assert sys.getrefcount(node) == before
            assert abs(sys.getallocatedblocks() - blocks) < 1000
            del held

    # --------------------------------------------------------------------------------------------------------- docstrings

    def test_docstrings_say_what_is_kept_and_who_reads_it(self, built: Built) -> None:
        for op in built.program.nodes:
            class_ = getattr(built.module, str(op.node))
            assert str(op.schema) in class_.__doc__
            assert all(print_expr(d.formula) in class_.__doc__ for d in op.derivatives)
            for value in op.saved:
                doc = inspect.getdoc(vars(class_)[f"_saved_{value.name}"]) or ""
                assert f"`{print_expr(value.value)}`" in doc
                assert str(value.type) in doc
                readers = [d for d in op.derivatives if _reads(d.formula, value.name)]
                assert all(print_expr(d.formula) in doc for d in readers)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    elif not isinstance(value, int | float | complex | str):
        yield value


def _reads(formula: Any, name: str) -> bool:
    from gradspec.ir import Saved, walk

    return any(isinstance(part, Saved) and part.name == name for part in walk(formula))
