"""Why it compiled again, and when it stops: storms, limits, logs, explanations, counters, switches, threads."""

import subprocess
import sys
import threading
import warnings

import pytest
from harness import batch, labelled, net, parameter, tensor

import funtorch
from funtorch import compiler, nn


def caught(run, calls):
    """The results of calls, and the warnings that they gave."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = [run(*args) for args in calls]
    return results, [str(w.message) for w in said]


def test_a_storm_of_python_floats_warns_once_and_stays_correct():
    run = funtorch.compile(lambda x, lr: x * lr)
    x = tensor(1.0, 2.0)
    results, said = caught(run, [(x, 0.1 * i) for i in range(40)])
    assert [r.tolist() for r in results] == [[0.1 * i, 0.2 * i] for i in range(40)]
    assert len(said) == 1 and "(float)" in said[0] and "Pass a Tensor" in said[0], said
    assert run.counts["compiled"] == 0 and run.counts["programs"] == 0


def test_a_storm_of_closure_values_warns_once_and_stays_correct():
    scale = 0.0

    def step(x):
        return x * scale

    run = funtorch.compile(step)
    said, found = [], []
    for i in range(40):
        scale = 0.1 * i
        results, texts = caught(run, [(tensor(1.0, 2.0),)])
        found.append(results[0].tolist())
        said += texts
    assert found == [[0.1 * i, 0.2 * i] for i in range(40)]
    assert len(said) == 1 and "'scale'" in said[0], said
    assert run.counts["programs"] == 0


def test_a_storm_of_shapes_warns_once_and_stays_correct():
    run = funtorch.compile(lambda x: x.sum())
    results, said = caught(run, [(funtorch.ones(n),) for n in range(1, 80)])
    assert [r.item() for r in results] == list(range(1, 80))
    assert len(said) == 1 and "float64[" in said[0], said
    assert len(run.entries) <= compiler.settings.structures


def test_values_known_before_a_storm_stay_compiled():
    run = funtorch.compile(lambda x, k: x * k)
    x = tensor(1.0)
    _, said = caught(run, [(x, 2.0)] * 4 + [(x, 0.1 * i) for i in range(20)])
    before = run.counts["compiled"]
    results, more = caught(run, [(x, 2.0)] * 3)
    assert len(said) == 1 and not more and run.counts["compiled"] == before + 3


def test_values_that_are_worth_a_program_go_on_being_compiled():
    run = funtorch.compile(lambda x, epoch: x * 2)
    for epoch in range(12):
        for i in range(7):
            assert run(tensor(1.0 * i), epoch).item() == 2.0 * i
    assert run.counts["compiled"] == 12 * 5 and len(run.entries) == compiler.settings.variants


def test_too_many_paths_stay_eager_and_the_decision_is_named(monkeypatch):
    monkeypatch.setattr(compiler.settings, "variants", 3)

    def step(x):
        n = 0
        while x > n:
            n += 1
        return x * n

    run = funtorch.compile(step)
    line = step.__code__.co_firstlineno + 2
    calls = [(funtorch.tensor(float(v)),) for v in range(8) for _ in range(3)]
    results, said = caught(run, calls)
    assert [r.item() for r in results] == [float(v * v) for v in range(8) for _ in range(3)]
    assert len(said) == 1 and f"{__file__}:{line}" in said[0] and "stays eager" in said[0], said
    (entry,) = run.entries.values()
    assert len(entry.variants) == 3 and run.counts["programs"] == 3
    before = run.counts["compiled"]
    assert run(funtorch.tensor(1.0)).item() == 1.0 and run.counts["compiled"] == before + 1  # known paths go on


def test_each_compilation_is_logged_with_its_cause():
    code = (
        "import funtorch as torch\n"
        "flag = True\n"
        "@torch.compile\n"
        "def step(x):\n"
        "    return x * 2 if x.sum() > 0 and flag else x - 1\n"
        "for n in (1.0, -1.0):\n"
        "    for _ in range(3): step(torch.tensor([n]))\n"
        "for _ in range(3): step(torch.ones(3))\n"
        "flag = False\n"
        "for _ in range(3): step(torch.ones(3))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"FUNTORCH_LOGS": "recompiles", "PATH": ""}
    )
    lines = [line for line in ran.stderr.splitlines() if "[recompiles]" in line]
    assert len(lines) == 4, ran.stderr
    assert "step (<string>:" in lines[0] and "program 1" in lines[0]
    assert "bool() at <string>:5 came out as False, and was True" in lines[1]
    assert "float32[3]" in lines[2] and "float32[1]" in lines[2]
    assert "'flag' has changed" in lines[3]


def test_nothing_is_logged_unasked(capfd):
    run = funtorch.compile(lambda x: x + 1)
    for i in range(3):
        run(tensor(1.0 * i))
    assert "recompiles" not in capfd.readouterr().err


def test_explanations():
    w = parameter(2)
    run = funtorch.compile(lambda x: (x * w).sum() if x[0] > 0 else x)
    for i in range(4):
        run(tensor(1.0, i))
    text = compiler.explain(run)
    assert "2 compiled" in text and "1 cells read" in text and f"bool() at {__file__}" in text
    layer = funtorch.nn.Linear(2, 1)
    layer.compile()
    layer(tensor(1.0, 2.0))
    assert "1 eager" in compiler.explain(layer)
    with pytest.raises(TypeError, match="expected a compiled function"):
        compiler.explain(3)


def test_counters_and_reset():
    run = funtorch.compile(lambda x: x * 3.25 + 1)
    before = compiler.counters.copy()
    for i in range(5):
        run(tensor(1.0 * i))
    grown = {k: compiler.counters[k] - before[k] for k in compiler.counters if compiler.counters[k] != before[k]}
    assert grown == {"eager calls": 2, "compiled calls": 3, "traces": 1, "programs": 1}
    compiler.reset()
    assert not run.entries
    run(tensor(1.0))
    assert run.counts["eager"] == 3


def test_disabled_functions_and_switches():
    seen = []

    @compiler.disable
    def look(x):
        seen.append(x.tolist())
        return x

    run = funtorch.compile(lambda x: look(x * 2) + 1)
    with pytest.warns(UserWarning, match="compiler.disable"):
        for i in range(8):
            run(tensor(1.0 * i))
    assert len(seen) == 8
    plain = lambda x: x + 1  # noqa: E731
    assert funtorch.compile(plain, disable=True) is plain
    assert compiler.disable()(plain)(tensor(1.0)).tolist() == [2.0]
    run = funtorch.compile(plain)
    compiler.set_enabled(False)
    try:
        for _ in range(4):
            run(tensor(1.0))
    finally:
        compiler.set_enabled(True)
    assert run.counts == {"eager": 0, "compiled": 0, "guard_failures": 0, "programs": 0}


def test_is_compiling():
    seen = []

    def step(x):
        seen.append(compiler.is_compiling())
        return x + 1

    run = funtorch.compile(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(4):
            run(tensor(1.0 * i))
    assert not any(seen) and not compiler.is_compiling()
    flags = []
    run = funtorch.compile(lambda x: flags.__iadd__([compiler.is_compiling()]) and x + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(3):
            run(tensor(1.0 * i))
    assert flags[0] is False


def test_fullgraph():
    kept = []

    def step(x):
        kept.append(x * 2)
        return x

    run = funtorch.compile(step, fullgraph=True)
    with pytest.raises(RuntimeError, match="fullgraph=True.*can't be one program"):
        for i in range(9):
            run(tensor(1.0 * i))
    run = funtorch.compile(lambda x: x * 2, fullgraph=True)
    assert [run(tensor(1.0 * i)).item() for i in range(4)] == [0.0, 2.0, 4.0, 6.0]


def test_arguments_of_compile():
    with pytest.raises(ValueError, match="unrecognized mode='fast'"):
        funtorch.compile(lambda x: x, mode="fast")
    with pytest.raises(RuntimeError, match="either mode or options"):
        funtorch.compile(lambda x: x, mode="default", options={})
    with pytest.raises(TypeError, match="expected a function"):
        funtorch.compile(3)
    run = funtorch.compile(lambda x: x + 1, mode="reduce-overhead", backend="inductor", dynamic=False)
    assert funtorch.compile(run) is run and run(tensor(1.0)).item() == 2.0

    @funtorch.compile(fullgraph=True)
    def decorated(x):
        """Its text."""
        return x * 2

    assert decorated.__doc__ == "Its text." and decorated.fullgraph and decorated(tensor(2.0)).item() == 4.0


def test_default_dtype_and_grad_mode_belong_to_the_call():
    w = parameter(2)
    run = funtorch.compile(lambda x: (x * w, funtorch.zeros(1) + 0.5))
    for i in range(9):
        funtorch.set_default_dtype((funtorch.float64, funtorch.float32)[i % 2])
        with funtorch.set_grad_enabled(i % 3 > 0):
            y, z = run(funtorch.ones(2, dtype=funtorch.float64) * i)
        assert y.requires_grad == (i % 3 > 0) and z.dtype == funtorch.get_default_dtype()


def test_a_mode_left_changed_is_left_changed():
    def step(x):
        funtorch.set_grad_enabled(False)
        return x * 2

    run = funtorch.compile(step)
    with pytest.warns(UserWarning, match="leaves a mode"):
        for i in range(8):
            assert run(tensor(1.0 * i)).item() == 2.0 * i
            assert not funtorch.is_grad_enabled()
            funtorch.set_grad_enabled(True)


def test_arguments_and_old_models_are_let_go():
    import gc
    import weakref

    run = funtorch.compile(lambda x: (x * 2, x.sum()))
    given = []
    for i in range(6):
        x = tensor(1.0, i)
        run(x)
        given.append(weakref.ref(x))
        del x
    gc.collect()
    assert run.counts["compiled"] >= 3 and not any(ref() is not None for ref in given)


def test_threads():
    model = net()
    opt = funtorch.optim.SGD(model.parameters(), lr=0.0)
    total = funtorch.zeros(())

    @funtorch.compile
    def step(x, y):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total.add_(1)
        return loss

    @funtorch.compile
    def other(x):
        return x.sum() * 2 if x.sum() > 0 else x.sum() - 1

    expected = [nn.functional.cross_entropy(model(x), y).item() for x, y in map(labelled(), range(8))]
    sums = [batch(3)(i)[0].sum().item() for i in range(8)]
    wrong, count = [], 12

    def work(number):
        funtorch.set_default_dtype(funtorch.float64)
        for k in range(count):
            i = (number + k) % 8
            if abs(step(*labelled()(i)).item() - expected[i]) > 1e-9:
                wrong.append((number, i))
            s = other(*batch(3)(i)).item()
            if abs(s - (sums[i] * 2 if sums[i] > 0 else sums[i] - 1)) > 1e-9:
                wrong.append((number, i, s))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and total.item() == 4 * count
    assert step.counts["compiled"] >= 4 * count - 8


def test_a_thread_that_makes_tensors_meanwhile_is_not_watched():
    stop, kept = threading.Event(), []

    def work():
        while not stop.is_set() and len(kept) < 5000:
            kept.append(tensor(1.0))

    thread = threading.Thread(target=work)
    run = funtorch.compile(lambda x: x.cumsum(0) * 2 + x)
    thread.start()
    try:
        for i in range(4):
            run(tensor(1.0, i))
    finally:
        stop.set()
        thread.join()
    assert run.counts["compiled"] == 2
