"""What holds for the project as a whole: layers, imports, public names, docstrings, sizes, packaging."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from setuptools import find_packages

from funtorch.ops import registry

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "funtorch"
LONGEST_FUNCTION = 60

# Each layer may import itself and what stands above it. A name is a file or folder under funtorch/.
LAYERS = (
    ("errors", "cautions", "dtypes", "devices", "layouts", "printing", "size", "version", "utils.hooks"),
    ("core",),
    ("tensor", "composite_tensor", "overrides"),
    ("ops", "sparse", "masked_tensors", "return_types", "numbers_info"),
    ("autograd", "transforms"),
    ("nn", "optim", "utils", "distributed", "streams"),
    ("every other",),  # namespaces that hand on what stands above, or build on it: fft, func, cuda, models, ...
    ("demo", "information", "cli", "__main__", "utils.model_zoo"),
)
OTHER = LAYERS.index(("every other",))
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}
TOP = ""  # funtorch itself, which only hands names on

# Imports inside functions that reach up a layer, where the lower one offers a face of the higher (`Tensor.backward`, `grad` of a Module).
UPWARD = {("tensor", "autograd"), ("transforms", "nn"), ("utils", TOP)}

HEAVY = ("flax", "optax", "orbax", "rich", "scipy", "sklearn", "torch")
NOT_PUBLIC = ("core", "demo", "information", "cli", "__main__")


def files() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "__pycache__" not in p.parts)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in files()}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def imported(name: str, node: ast.Import | ast.ImportFrom) -> list[str]:
    """The absolute names that an import statement of module ``name`` may load."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        package = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
        kept = package[: len(package) - node.level + 1]
        base = ".".join([*kept, *([node.module] if node.module else [])])
    below = [f"{base}.{alias.name}" for alias in node.names]
    found = [each for each in below if each in MODULES]
    return found if len(found) == len(below) else [base, *found]


def imports(name: str) -> Iterator[tuple[str, bool]]:
    """What a module imports, and whether it does so when it is loaded itself (not in a function, nor for types only)."""

    def walk(node: ast.AST, at_load: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                yield from ((each, at_load) for each in imported(name, child))
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            else:
                yield from walk(child, at_load and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    return walk(TREES[name], True)


def part(name: str) -> str:
    """The name in `LAYERS` that a module belongs to; TOP for funtorch itself."""
    inner = name.partition(".")[2]
    return inner if inner in LAYER_OF else inner.split(".")[0]


def inner_imports(name: str) -> Iterator[tuple[str, bool]]:
    return ((each, at_load) for each, at_load in imports(name) if each.split(".")[0] == "funtorch")


def layer(name: str) -> int:
    return len(LAYERS) if part(name) == TOP else LAYER_OF.get(part(name), OTHER)


def test_the_layers_name_files_that_exist():
    assert set(LAYER_OF) - {part(name) for name in MODULES} == {"every other"}


def upward_imports() -> Iterator[tuple[str, str, bool]]:
    """Module, what it imports from a higher layer, and whether when loaded."""
    for name in MODULES:
        for target, at_load in inner_imports(name):
            # `import funtorch as torch` is for files that are written as a user would.
            if (OTHER if part(target) == TOP else layer(target)) > layer(name):
                yield name, target, at_load


def test_imports_go_down_the_layers():
    wrong = [
        f"{name} imports {target}{' when loaded' if at_load else ''}"
        for name, target, at_load in upward_imports()
        if at_load or (part(name), part(target)) not in UPWARD
    ]
    assert wrong == []


def test_the_list_of_upward_imports_has_no_dead_entries():
    assert {(part(name), part(target)) for name, target, _ in upward_imports()} >= UPWARD


def test_no_circle_of_imports():
    graph = {name: {t for t, at_load in inner_imports(name) if at_load and t in MODULES and t != name} for name in MODULES}
    # A package's __init__ runs before its files, but they don't need it to have finished.
    graph = {name: {t for t in targets if not name.startswith(f"{t}.")} for name, targets in graph.items()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_no_private_jax_and_no_torch():
    wrong = [f"{name} imports {target}" for name in MODULES for target, _ in imports(name) if is_forbidden(target)]
    assert wrong + [name for name, path in MODULES.items() if "jax._src" in path.read_text()] == []


def is_forbidden(target: str) -> bool:
    return target.split(".")[0] in ("torch", "torchvision", "functorch") or "._src" in target


def test_importing_funtorch_loads_nothing_heavy():
    code = f"import funtorch, sys; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"


# Public names and docstrings


def public_modules() -> Iterator[ModuleType]:
    return (importlib.import_module(name) for name in MODULES if part(name) not in NOT_PUBLIC)


def test_names_in_all_exist_once():
    for module in public_modules():
        listed = getattr(module, "__all__", [])
        assert len(listed) == len(set(listed)), module.__name__
        assert [each for each in listed if not hasattr(module, each)] == [], module.__name__


@pytest.mark.parametrize(
    "name", ["autograd", "compiler", "fft", "func", "linalg", "models", "optim", "random", "special", "transforms"]
)
def test_a_namespace_lists_all_that_it_shows(name: str):
    """Every function and class of ours that can be reached without an underscore is in ``__all__``."""
    module = importlib.import_module(f"funtorch.{name}")
    shown = {n for n, v in vars(module).items() if (inspect.isfunction(v) or inspect.isclass(v)) and not n.startswith("_")}
    own = {n for n in shown if getattr(module, n).__module__.startswith("funtorch.")}
    assert own == {n for n in module.__all__ if n in shown}


def test_public_docstrings():
    missing = [name for name, tree in TREES.items() if tree.body and not ast.get_docstring(tree)]
    for module in public_modules():
        for name, value in vars(module).items():
            ours = (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module.__name__
            if ours and not name.startswith("_") and not value.__doc__:
                missing.append(f"{module.__name__}.{name}")
    assert missing == []


def test_every_op_and_method_has_a_docstring():
    """An op's public function is generated: its docstring must have come along."""
    spaces = [(space, registry.names(space)) for space in registry.namespaces()] + [("Tensor", registry.methods)]
    public = [(space, name, fn) for space, names in spaces for name, fn in names.items() if not name.startswith("_")]
    assert [f"{space}.{name}" for space, name, fn in public if not fn.__doc__ and not space.endswith(".pure")] == []


def test_functions_are_short():
    long = [
        f"{name}.{node.name}: {length} lines"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (length := code_lines(node)) > LONGEST_FUNCTION
    ]
    assert long == []


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its decorators and docstring."""
    last = node.end_lineno or node.lineno
    if not ast.get_docstring(node):
        return last - node.lineno + 1
    text = node.body[0]
    return last - node.lineno + 1 - ((text.end_lineno or text.lineno) - text.lineno + 1)


# Packaging


def load_as(name: str, folder: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PACKAGE / folder / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["transforms", "models"])
def test_the_links_at_the_root_refuse_to_be_imported(name: str):
    assert (ROOT / name).resolve() == PACKAGE / name
    with pytest.raises(ImportError, match=f"import funtorch.{name}"):
        load_as(name, name)


def test_a_wheel_holds_every_package_and_no_other():
    settings = (ROOT / "pyproject.toml").read_text()
    assert 'include = ["funtorch*"]' in settings
    expected = {".".join(path.parent.relative_to(ROOT).parts) for path in files()}
    assert set(find_packages(str(ROOT), include=["funtorch*"])) == expected


def test_type_hints_are_shipped():
    assert (PACKAGE / "py.typed").exists()
