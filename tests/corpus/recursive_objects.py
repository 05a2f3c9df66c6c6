"""Objects that recursive functions and methods make, return and write."""

from __future__ import annotations

import math

import numpy as np

from .case import case

VECTOR = np.array([0.7, 1.3, 0.4, 1.9])


class Node:
    def __init__(self, key, weight):
        self.key, self.weight = key, weight
        self.left = self.right = None

    def insert(self, key, weight):
        if key < self.key:
            if self.left is None:
                self.left = Node(key, weight)
            else:
                self.left.insert(key, weight * self.weight)
        elif self.right is None:
            self.right = Node(key, weight)
        else:
            self.right.insert(key, weight)


def inserted(node, key, weight):
    if node is None:
        return Node(key, weight)
    if key < node.key:
        node.left = inserted(node.left, key, weight)
    else:
        node.right = inserted(node.right, key, weight)
    return node


def total(node):
    if node is None:
        return 0.0
    return node.weight**2 + 0.5 * total(node.left) + 0.25 * total(node.right)


@case(VECTOR)
def tree_that_a_function_inserts_into(x):
    root = None
    for k, v in zip((3, 1, 4, 2), x, strict=True):
        root = inserted(root, k, v)
    return total(root)


@case(VECTOR, second=False)  # it is as above, and takes as long
def tree_that_a_method_inserts_into(x):
    root = Node(3, x[0])
    for k, v in zip((1, 4, 2), x[1:], strict=True):
        root.insert(k, v)
    return total(root)


class Cons:
    def __init__(self, head, tail):
        self.head, self.tail = head, tail


def listed(values):
    return Cons(values[0], listed(values[1:])) if len(values) else None


def summed(cons):
    return 0.0 if cons is None else cons.head * cons.head + 0.5 * summed(cons.tail)


@case(VECTOR)
def linked_list_that_a_function_makes(x):
    return summed(listed(x))


class Const:
    def __init__(self, value):
        self.value = value

    def evaluate(self, names):
        return self.value


class Variable:
    def __init__(self, name):
        self.name = name

    def evaluate(self, names):
        return names[self.name]


class Sum:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def evaluate(self, names):
        return self.left.evaluate(names) + self.right.evaluate(names)


class Product(Sum):
    def evaluate(self, names):
        return self.left.evaluate(names) * self.right.evaluate(names)


class Sine:
    def __init__(self, of):
        self.of = of

    def evaluate(self, names):
        return math.sin(self.of.evaluate(names))


@case(VECTOR)
def expressions_of_several_classes_that_evaluate_one_another(x):
    expression = Variable("a")
    for v in x[:3]:
        expression = Sum(Product(expression, Const(v)), Sine(Variable("b")))
    return expression.evaluate({"a": x[3], "b": x[1]})


class Visitor:
    def __init__(self, scale):
        self.scale = scale

    def visit(self, node):
        return getattr(self, "visit_" + type(node).__name__)(node)

    def visit_Const(self, node):
        return node.value * self.scale

    def visit_Sum(self, node):
        return self.visit(node.left) + self.visit(node.right)

    def visit_Product(self, node):
        a, b = self.visit(node.left), self.visit(node.right)
        return a * b


@case(VECTOR)
def visitor_whose_methods_are_named_for_the_classes(x):
    tree = Sum(Product(Const(x[0]), Const(x[1])), Product(Const(2.0), Const(x[2])))
    return Visitor(x[3]).visit(tree)


class Calculator:
    def __init__(self, tokens, names):
        self.tokens, self.names, self.place = tokens, names, 0

    def taken(self):
        token = self.tokens[self.place]
        self.place += 1
        return token

    def sum(self):
        value = self.factor()
        while self.place < len(self.tokens) and self.tokens[self.place] != ")":
            value = value + self.factor() if self.taken() == "+" else value * self.factor()
        return value

    def factor(self):
        token = self.taken()
        if token != "(":
            return self.names[token]
        value = self.sum()
        self.taken()
        return value


@case(VECTOR, second=False)
def methods_that_call_one_another_and_advance_a_cursor(x):
    names = {"a": x[0], "b": x[1], "c": x[2], "d": x[3]}
    return Calculator([*"a*(b+c*d)+d"], names).sum()


class Bag:
    def __init__(self, weight):
        self.weight, self.other = weight, None

    def insert(self, times, weight):
        self.weight = self.weight + times * weight


@case(VECTOR)
def object_that_is_stored_in_the_trip_before_and_has_a_method_as_lists_have(x):
    bag = Bag(x[0])
    for v in x:
        if bag.other is None:
            bag.other = Bag(v)
        else:
            bag.other.insert(2, v)
    return bag.other.weight**2 * bag.weight


class Link:
    def __init__(self, weight, tail):
        self.weight, self.tail = weight, tail


def chained(link, depth):
    if link is None or depth > 4:
        return 0.0
    return link.weight**2 + 0.5 * chained(link.tail, depth + 1)


@case(VECTOR)
def recursion_over_what_a_loop_writes(x):
    links = []
    for v in x:
        links.append(Link(v, links[-1] if links else None))
    total = 0.0
    for link in links[1:]:
        total += chained(links[-1], 0) * 0.1
        link.weight += links[0].weight * links[-1].weight
    return total + links[-1].weight


class Split:
    def __init__(self, point, left, right):
        self.point, self.left, self.right = point, left, right


def split(points, axis):
    if not points:
        return None
    points = sorted(points, key=lambda p: p[axis])
    half = len(points) // 2
    return Split(points[half], split(points[:half], 1 - axis), split(points[half + 1 :], 1 - axis))


def nearest(tree, point, best):
    if tree is None:
        return best
    distance = (tree.point[0] - point[0]) ** 2 + (tree.point[1] - point[1]) ** 2
    best = distance if best is None or distance < best else best
    return nearest(tree.right, point, nearest(tree.left, point, best))


@case(VECTOR)
def tree_that_a_function_makes_of_sections_of_a_list(x):
    points = [(x[0], x[1]), (x[2], x[3]), (x[1], x[2])]
    return nearest(split(points, 0), (0.5, x[0]), None)


class Number:
    def __init__(self, value):
        self.value = value

    def accept(self, visitor):
        return visitor.number(self)


class Total:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def accept(self, visitor):
        return visitor.add(self)


class Evaluation:
    def number(self, node):
        return node.value**2

    def add(self, node):
        return node.left.accept(self) * 0.5 + node.right.accept(self)


@case(VECTOR)
def visitor_with_a_method_as_sets_have(x):
    tree = Number(x[0])
    for v in x[1:]:
        tree = Total(tree, Number(v))
    return tree.accept(Evaluation())


class Weight:
    def __init__(self, mass, arm, below=None):
        self.mass, self.arm, self.below = mass, arm, below


def moment(weight, depth):
    if weight is None or depth > 4:
        return 0.0
    return weight.mass * weight.arm + 0.5 * moment(weight.below, depth + 1)


@case(VECTOR)
def recursion_whose_record_holds_numbers_or_none_that_a_loop_writes(x):
    weights = [Weight(v, 0.5) for v in x]
    total = x[0]
    for weight in weights:
        total += moment(weight, 0) * 0.1
        weight.arm = total
    return total


def hung(weight, mass):
    if weight is None:
        return Weight(mass, 0.5)
    weight.below = hung(weight.below, mass)
    return weight


@case(VECTOR)
def test_of_what_a_recursion_has_hung_on_an_object(x):
    weight = Weight(x[1], 0.3)
    for v in x:
        weight = hung(weight, v)
    total = weight.mass**2
    if weight.below is not None:
        total += weight.below.mass**2
    return total


class Fork:
    def __init__(self, weight, left, right):
        self.weight, self.left, self.right = weight, left, right


def balanced(weights):
    if not weights:
        return None
    half = len(weights) // 2
    return Fork(weights[half], balanced(weights[:half]), balanced(weights[half + 1 :]))


def torque(fork):
    if fork is None:
        return 0.0
    return fork.weight.mass + 0.5 * torque(fork.left) - 0.3 * torque(fork.right) * fork.weight.arm


@case(VECTOR)
def trees_that_a_loop_makes_of_a_list_whose_items_are_written(x):
    weights = [Weight(v, v * 0.5) for v in x]
    total = x[1]
    weights[0].mass = total * 0.2
    for _ in range(2):
        total += torque(balanced(weights)) * 0.1
        total += max(weights, key=lambda weight: weight.arm).mass * 0.3
    return total


class Part:
    def __init__(self, v, w, next_part):
        self.v, self.w, self.next_part, self.held = v, w, next_part, []


class Pile:
    def __init__(self, a):
        self.a = a * np.ones(2)


def weighed(part):
    return 0.0 if part is None else part.v * part.w - 0.5 * weighed(part.next_part)


@case(VECTOR)
def objects_of_which_none_is_ever_given_parts(x):
    parts, piles, s = [], [Pile(x[0]), Pile(x[1])], x[2]
    for v in x:
        parts.append(Part(v, v * 0.5, parts[-1] if parts else None))
    for part in parts[1:]:
        piles[0].a[1] += part.v * s
        for inner in part.held:
            s += inner.v * weighed(inner)
        s += sum([inner.w for inner in part.held]) + weighed(part) * 0.1
        part.v, part.w = part.w, part.v * 0.9
        piles.append(Pile(part.v))
    return s + piles[-1].a[1] + np.sum(piles[0].a) + sum([part.v * part.w for part in parts])


RATES, TABLES = {"leaf": 0.5, "fork": {"a": 2.0}}, [[1.5], [0.3]]


class Branching:
    def __init__(self, kind, weight=0.0, left=None, right=None):
        self.kind, self.weight, self.left, self.right = kind, weight, left, right


def grown(x, k):
    return None if k >= len(x) else Branching("leaf", x[k], grown(x, 2 * k + 1), grown(x, 2 * k + 2))


def with_rates(branching):
    if branching is None:
        return RATES["fork"]["a"] * TABLES[0][0]
    return RATES[branching.kind] * branching.weight * with_rates(branching.left) + with_rates(branching.right)


@case(VECTOR)
def recursion_over_objects_that_asks_a_global_dict(x):
    return with_rates(grown(x, 0)) * x[1]


@case(VECTOR)
def nested_recursion_over_objects_that_asks_a_global_dict(x):
    root = Branching("fork", 0.0, Branching("leaf", x[0]), Branching("leaf", x[1] * x[2]))

    def of(branching):
        if branching.kind == "leaf":
            return branching.weight * RATES[branching.kind]
        return of(branching.left) * of(branching.right)

    return of(root)
