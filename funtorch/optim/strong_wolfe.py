"""A line search for the strong Wolfe conditions (Nocedal and Wright, 2006, algorithms 3.5 and 3.6), with cubic interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

DECREASE, FLATTENING = 1e-4, 0.9  # Nocedal and Wright's c1 and c2


class Point(NamedTuple):
    """A point on the line: how far out, the value there, the gradient, and its part along the line."""

    t: float
    value: float
    grad: Any
    slope: float


Evaluate = Callable[[float], Point]


def cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """Where the cubic through two points with their slopes is least, between ``low`` and ``high``; their middle if nowhere."""
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    steep = b.slope - a.slope + 2 * d2
    if steep == 0:
        return (low + high) / 2
    return min(max(b.t - (b.t - a.t) * ((b.slope + d2 - d1) / steep), low), high)


def _too_high(point: Point, start: Point) -> bool:
    return point.value > start.value + DECREASE * point.t * start.slope


def _flat(point: Point, start: Point) -> bool:
    return abs(point.slope) <= -FLATTENING * start.slope


def _bracket(evaluate: Evaluate, start: Point, t: float, most: int) -> tuple[list[Point], int, bool]:
    """One point that will do (True), or two between which there is one; and how many steps out it took."""
    before, point = start, evaluate(t)
    for steps in range(most):
        if _too_high(point, start) or (steps > 1 and point.value >= before.value):
            return [before, point], steps, False
        if _flat(point, start):
            return [point], steps, True
        if point.slope >= 0:
            return [before, point], steps, False
        further = cubic_minimum(before, point, point.t + 0.01 * (point.t - before.t), 10 * point.t)
        before, point = point, evaluate(further)
    return [start, point], most, False


def _inside(t: float, low: float, high: float, slow: bool) -> tuple[float, bool]:
    """``t``, moved a tenth inwards if it lies near an end for the second time running; and whether it lies near one."""
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if slow or t >= high or t <= low:
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
    return t, True


def search(evaluate: Evaluate, start: Point, t: float, most: int, reach: float, tolerance: float) -> tuple[Point, int]:
    """A point that satisfies the conditions, or the lowest that was found, and how often ``evaluate`` was called.

    Args:
        evaluate: the point at a distance.
        start: the point at 0.
        t: the distance to try first.
        most: steps that may be taken.
        reach: the largest element of the direction.
        tolerance: an interval that moves no element by more is not halved further.
    """
    points, steps, done = _bracket(evaluate, start, t, most)
    calls = steps + 1
    low, high = (0, 1) if points[0].value <= points[-1].value else (1, 0)
    slow = False
    while not done and steps < most:
        least, largest = sorted(p.t for p in points)
        if (largest - least) * reach < tolerance:
            break
        t, slow = _inside(cubic_minimum(points[0], points[1], least, largest), least, largest, slow)
        point = evaluate(t)
        calls, steps = calls + 1, steps + 1
        if _too_high(point, start) or point.value >= points[low].value:
            points[high] = point
            low, high = (0, 1) if points[0].value <= points[1].value else (1, 0)
            continue
        if _flat(point, start):
            done = True
        elif point.slope * (points[high].t - points[low].t) >= 0:
            points[high] = points[low]
        points[low] = point
    return points[low], calls
