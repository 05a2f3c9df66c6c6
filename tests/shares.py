"""How many random programs there were, and how many of them have each feature: counted in parts, told in one text."""

from collections import Counter

PROPERTY = "random programs"  # under this name the tests of a part record its counts


def counted(features: Counter, points: Counter, refused: int, seconds: float) -> dict:
    """The counts of a part, which add up; `points[k]` programs were judged at the k-th point, `points[0]` at none."""
    again = sum(count for point, count in points.items() if point > 1)
    own = {"programs": points.total(), "rejected": points[0], "refused": refused, "again": again, "seconds": seconds}
    return own | {f"feature {name}": count for name, count in features.items()}


def report(counts: Counter) -> str:
    """The shares, in words.

    >>> counts = Counter(counted(Counter({"if": 1}), Counter({1: 2}), 0, 1.0))
    >>> counts.update(counted(Counter({"if": 1}), Counter({0: 1, 2: 1}), 0, 2.0))
    >>> print(report(counts))
    4 random programs in 3 s: 25.00% rejected, 0 refused, 1 judged at another point than the first
      if 50%
    """
    total = counts["programs"]
    lines = [
        f"{total} random programs in {counts['seconds']:.0f} s: {counts['rejected'] / total:.2%} rejected, "
        f"{counts['refused']} refused, {counts['again']} judged at another point than the first"
    ]
    features = {name.removeprefix("feature "): count for name, count in counts.items() if name.startswith("feature ")}
    names = sorted(features, key=features.__getitem__)
    for start in range(0, len(names), 8):
        lines.append("  " + ", ".join(f"{name} {features[name] / total:.0%}" for name in names[start : start + 8]))
    return "\n".join(lines)
