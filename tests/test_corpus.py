"""Every function of the corpus: gradient, value, generic text, values after every pass, second and third order."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import linecache
import re
import traceback
from pathlib import Path

import gast
import numpy as np
import pytest
from corpus import CASES, REFUSED_IN_A_BRANCH, by_name
from differences import assert_value, central_difference, copied, directional, inner, leaves, random_directions

from s2sgrad import S2SGradError, Unsupported, emit, grad, value_and_grad
from s2sgrad.driver.pipeline import NORMALIZE, normalizing
from s2sgrad.ir.quote import nodes
from s2sgrad.runtime import checks
from s2sgrad.source import GENERATED, read

SECOND = [entry for entry in CASES if entry.second]
SECOND_BY_ARGUMENT = [
    pytest.param(entry, number, id=f"{entry.name}-{number}", marks=[pytest.mark.records] * (entry.second == "recorded"))
    for entry in SECOND
    for number in entry.argnums
]
THIRD = [
    "cube_with_everything",
    "plain_assignment",
    "elif_chain",
    "linear_loop",
    "logistic_map",
    "multilayer_perceptron",
    "while_true_with_break",
    "return_from_a_for",
    "helper_called_in_a_loop",
    "recursion_by_squaring",
    "dict_that_a_loop_fills",
    "dict_that_a_loop_fills_under_pairs",
]

# The modules of the corpus that write into arrays.
IN_PLACE = ("buffers", "called_again", "indices", "mixed_lists", "mutators", "named_alike", "namespaces", "overwritten",
            "recursive_writers", "sharing", "stacks", "stores", "swaps", "undecided", "views", "writers")  # fmt: skip

# And those that write into lists, dicts and objects that they made.
CONTAINERS = ("array_likes", "asked_objects", "attributes", "bound_late", "callables", "class_members", "classes",
              "closures", "comprehensions", "copies", "decorated", "dicts", "kept_closures", "list_sections", "lists",
              "managers", "nested_lists", "objects", "passed_on", "pulled_back", "recursive_objects", "references",
              "remembered", "shared_lists", "slotted", "stateful", "subclasses", "tools", "tried_objects")  # fmt: skip

# All tests of a case are run in a row, so that its gradient is compiled once for them.
every_case = pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry.name, scope="module")


OF_THEIR_OWN = {"arguments_spread_by_position_and_by_name"}
"""Whose text serves one function object alone: a dict is the default of an argument."""


@pytest.fixture(autouse=True)
def quiet():
    """What the programs print is not for us."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


@functools.cache
def differences_of(name: str) -> tuple:
    """The gradient of a case by central differences, one entry for each of its float arguments."""
    entry = by_name(name)
    return central_difference(entry.function, entry.args, entry.argnums)


@functools.cache
def gradient_of(name: str, number: int):
    """The gradient of a case in one argument, compiled once for all tests."""
    return grad(by_name(name).function, number)


def same(left, right) -> None:
    """Equal in structure, type of containers, and to the last digits."""
    assert type(left) is type(right) or (is_number(left) and is_number(right)), f"{type(left)} is not {type(right)}"
    if isinstance(left, dict):
        assert list(left) == list(right)
    left, right = list(leaves(left)), list(leaves(right))
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def is_number(value) -> bool:
    return isinstance(value, (bool, int, float, np.number, np.bool_)) or (isinstance(value, np.ndarray) and value.ndim == 0)


def unchanged(args, before) -> None:
    for arg, old in zip(args, before, strict=True):
        assert type(arg) is type(old)
        if isinstance(arg, np.ndarray):
            assert arg.dtype == old.dtype and np.array_equal(arg, old)
        else:
            assert leaves_equal(arg, old)


def leaves_equal(left, right) -> bool:
    if isinstance(left, (tuple, list)):
        return len(left) == len(right) and all(map(leaves_equal, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(leaves_equal(left[key], right[key]) for key in left)
    return np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right


def test_the_corpus_is_large():
    assert len(CASES) >= 380
    assert len({entry.name for entry in CASES}) == len(CASES)
    assert len(SECOND) >= 370
    assert sum(not of(IN_PLACE + CONTAINERS, entry) for entry in CASES) >= 390


# --- first order -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(one_in=2)
@every_case
def test_gradient_agrees_with_differences(entry):
    args, before = entry.fresh_args(), entry.fresh_args()
    df = value_and_grad(entry.function, entry.argnums)
    value, gradient = df(*args)
    unchanged(args, before)
    assert_value(value, entry.function(*entry.fresh_args()))
    assert df._latest.recipe.shareable or entry.name in OF_THEIR_OWN, "another `grad` of the function compiles it anew"
    assert type(gradient) is tuple and len(gradient) == len(entry.argnums)
    for number, part, expected in zip(entry.argnums, gradient, differences_of(entry.name), strict=True):
        assert np.shape(part) == np.shape(args[number])
        assert np.asarray(part).dtype.kind == "f"
        np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6, err_msg=f"argument {number}")


@pytest.mark.sampled(one_in=80, turn=1)
@every_case
def test_gradient_without_the_value(entry):
    args, before = entry.fresh_args(), entry.fresh_args()
    gradient = grad(entry.function, entry.argnums)(*args)
    unchanged(args, before)
    for part, expected in zip(gradient, differences_of(entry.name), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(one_in=60, turn=2)
@every_case
def test_generic_text_gives_the_same_gradient_or_refuses(entry):
    df = grad(entry.function, entry.argnums)
    try:
        text, generic = df.source, df.__wrapped__
    except S2SGradError as error:
        assert of(IN_PLACE + CONTAINERS, entry) or entry.name in WRITES_WHAT_IS_DRAWN, "a functional one is not refused"
        assert 'File "' in str(error) and "^" in str(error)
        return
    assert text.count("for arguments of any kind") == 1
    args, before = entry.fresh_args(), entry.fresh_args()
    try:
        gradient = generic(*args)
    except Unsupported as error:  # of a method that is found when the text runs
        assert of(("attributes",), entry) and 'File "' in str(error)
        return
    except TypeError as error:
        # A row or an element, an array or a number: `t = a[i]` and `x += e` mean different things for them, and nothing
        # tells them apart before the arguments are known.  A check in the text does, at the user's line.
        assert is_refused_by_a_check(error, entry), error
        unchanged(args, before)
        return
    unchanged(args, before)
    for part, expected in zip(gradient, differences_of(entry.name), strict=True):
        assert np.shape(part) == np.shape(expected)
        np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6)


WRITES_WHAT_IS_DRAWN = {"chained_items_that_trips_write_under_another_name"}
"""Write a list of which an iterator draws: whether its items may be arrays is known with the kinds alone."""

REFUSED_WHEN_RUN = [
    "section_by_a_named_slice_while_a_name_goes_through_rows",
    "items_updated_in_what_is_called_again",
    "update_of_an_item_seen_by_another_name",
    "product_of_an_item_seen_by_another_name",
    "item_kept_while_another_takes_its_place_in_the_row",
    "item_kept_while_a_callee_replaces_it",
    "item_kept_while_it_is_replaced_by_a_second_name",
    "item_exchanged_with_a_name",
    "put_into_rows_and_written_by_a_row",
    "last_item_kept_while_the_list_grows_in_a_tuple",
    "views_in_a_list_stacked_into_their_array",
    "put_into_a_list_in_a_tuple",
    "item_kept_while_it_is_replaced_in_a_dict_that_holds_the_dict",
    "row_before_that_is_none_at_first",
    "row_before_updated_in_place_once_there_is_one",
    "deep_copy_of_an_object_copies_what_its_attributes_share_once",
    "parts_beside_the_whole",
    "squeezed_to_a_number_or_not_and_updated",
    "rows_stored_where_two_comparisons_hold",
    "item_of_a_dict_that_a_loop_fills",
    "last_item_of_a_mixed_list_is_updated",
    "swapped_in_a_list_beside_what_is_squeezed",
    "item_of_a_dict_beside_a_list_that_is_read_later",
    "parts_from_a_helper_written_in_a_callee",
    "store_into_a_row_that_stands_twice_in_a_list",
    "whole_updated_beside_its_parts_from_a_helper",
    "stack_of_numbers_beside_a_list_of_views_in_one_record",
    "lists_of_different_depth_in_one_record",
    "matrix_and_its_rows_from_a_helper",
    "writer_called_with_a_star",
    "writers_from_a_table",
    "writer_chosen_by_data",
    "swap_with_views_left_behind",
    "part_of_a_split_scaled",
    "joined_with_a_number",
    "lists_in_a_copied_list",
    "pairs_of_names_and_values",
    "item_stored_into_itself",
    "list_that_a_callee_fills_with_what_it_is_given",
    "dict_that_a_callee_fills_with_what_it_is_given",
    "joined_with_a_constant",
    "joined_to_a_list_of_constants",
    "rest_of_a_mixed_list",
    "mixed_lists_joined_in_a_loop",
    "array_in_two_lists_written_through_one",
    "argument_of_a_helper_is_updated",
    "store_into_an_element",
    "rows_swapped_through_views",
    "rows_scaled_and_then_filled",
    "view_read_between_two_stores",
    "view_sees_a_later_store",
    "special_methods_called_by_name",
    "name_alias",
    "number_rebound_where_an_array_is_written",
    "same_row_passed_twice",
    "view_returned_and_seen_changing",
    "argument_returned",
    "state_kept_before_each_call",
    "deep_copy_of_a_list_has_its_own_arrays",
    "out_of_reductions",
    "generator_beside_a_consumer_that_writes_what_it_reads",
    "out_of_cumulative_sums",
    "rows_bound_to_a_name_and_stored_again",
    "rows_replaced_by_their_copies",
    "attribute_updated_in_place_by_what_changes_the_object",
    "attribute_updated_in_place_of_what_was_handed_on",
    "array_updated_by_a_closure_that_binds_it_anew",
    "writer_that_returns_a_number",
    "state_kept_before_each_call",
    "deep_copy_of_a_list_has_its_own_arrays",
    "writer_of_fresh_temporaries",
    "rows_given_to_a_writer_in_a_for",
    "rows_of_an_argument",
    "array_or_its_copy",
    "numbers_and_views_in_a_list",
    "item_of_a_list_that_a_helper_returns",
    "halves_that_overlap",
    "helper_with_a_list_that_takes_turns_squared",
    "functions_called_for_their_effect_in_several_loops",
    "one_item_of_a_list_for_a_whole_section",
    "lists_for_rows_and_columns",
    "a_list_for_what_a_mask_or_indices_pick",
    "lists_that_are_stored_under_other_names",
    "section_with_bounds_that_are_known_at_run_time",
    "updates_through_methods_of_several_objects",
]


REPEATED = {"tuple_repeated_by_the_trips", "tuple_repeated_in_place"}
"""Cases of tuples that a product repeats: without kinds nothing tells them from arrays before they are met."""


def is_refused_by_a_check(error, entry) -> bool:
    """Whether a refused branch was taken, or it was raised by `checks.rebinds`, `scalar` or `as_long`, for a case of the
    list, at a line of its module."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if type(error) is checks.Refusal and last.filename.startswith(GENERATED):
        return True
    if entry.name in REPEATED and type(error) is checks.Refusal and last.name == "unbroadcast":
        return True
    what = "(`[^`]+`|this) is (an array that other names may see|a view of an array that is written)"
    stored = "what is stored here is smaller|a list whose kind is not known changes its length|a list that is written is in"
    words = re.match(rf"line (\d+): ({what}|{stored})", str(error))
    return (
        entry.name in REFUSED_WHEN_RUN
        and (type(error) is checks.Refusal or (type(error) is TypeError and last.name == "scalar"))
        and last.filename == checks.__file__
        and words is not None
        and int(words[1]) <= len(Path(entry.function.__code__.co_filename).read_text(encoding="utf-8").splitlines())
    )


def of(modules, entry) -> bool:
    return entry.function.__module__.rpartition(".")[2] in modules


# In two modules nobody can tell who shares memory, whatever is known of the arguments.
TOLD = tuple(module for module in IN_PLACE if module not in ("sharing", "undecided"))


@pytest.mark.sampled(one_in=2)
@pytest.mark.dear
@pytest.mark.parametrize(("modules", "least", "step"), [(TOLD, 165, 5), (CONTAINERS, 200, 15)])
def test_most_generic_texts_are_not_refused(modules, least, step):
    """About a third of those that write arrays or lists, for who shares memory is not known: of one in `step`."""
    refused, whole = [], [entry for entry in CASES if of(modules, entry)]
    asked = whole[::step]
    for entry in asked:
        try:
            _ = grad(entry.function, entry.argnums).source
        except S2SGradError:
            refused.append(entry.name)
    assert len(whole) >= least and len(refused) <= 0.37 * len(asked), refused


@pytest.mark.sampled(one_in=60, turn=3)
@every_case
def test_seeds_weight_the_results(entry):
    args = entry.fresh_args()
    value = entry.function(*entry.fresh_args())
    seed = seeds(value, np.random.default_rng(1))
    if seed is None:
        return
    gradient = grad(entry.function, entry.argnums, output_gradients=seed)(*args)
    rng = np.random.default_rng(2)
    for number, part in zip(entry.argnums, gradient, strict=True):
        (direction,) = random_directions(rng, args, (number,))
        slope = directional(entry.function, args, (number,), (direction,), weights=seed)
        np.testing.assert_allclose(inner(part, direction), slope, rtol=1e-5, atol=1e-6, err_msg=f"argument {number}")


def seeds(value, rng):
    """Random weights of the structure of a result; None where a leaf is no number."""
    if isinstance(value, dict):
        made = {key: seeds(item, rng) for key, item in value.items()}
        return None if None in map(type_or_none, made.values()) else made
    if isinstance(value, (tuple, list)):
        made = [seeds(item, rng) for item in value]
        return None if None in map(type_or_none, made) else type(value)(made)
    if isinstance(value, np.ndarray):
        return rng.uniform(0.5, 2.0, value.shape)
    return float(rng.uniform(0.5, 2.0)) if is_number(value) else None


def type_or_none(value):
    return None if value is None else type(value)


# --- values after every pass -----------------------------------------------------------------------------------------

_serial = itertools.count()


def executed(text: str, unit, original):
    """The function that `text` defines, over the globals, closure cells and defaults of `original`."""
    filename = f"<stage {next(_serial)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    cells = {
        name: cell.cell_contents
        for name, cell in zip(original.__code__.co_freevars, original.__closure__ or (), strict=True)
    }
    space = {**original.__globals__, **cells, **unit.helpers}
    exec(compile(text, filename, "exec", dont_inherit=True), space)
    made = space[unit.primal.tree.name]
    made.__defaults__, made.__kwdefaults__ = original.__defaults__, original.__kwdefaults__
    return made


# Whether `d[k] += e` writes an array or binds a number is known when kinds are: their passes see to it (inplace.settle).
ITEMS_SETTLED_LATER = ["update_of_an_item_seen_by_another_name", "product_of_an_item_seen_by_another_name",
                       "whole_updated_beside_its_parts_from_a_helper", "last_item_of_a_mixed_list_is_updated",
                       "update_of_an_item_within_an_item", "item_exchanged_with_a_name",
                       "put_into_a_row_and_written_by_its_rows", "put_into_rows_and_written_by_a_row",
                       "put_into_one_of_two_lists_and_written_by_its_name", "put_into_a_list_in_a_tuple",
                       "squeezed_to_a_number_or_not_and_updated",
                       "array_updated_in_a_dict_of_one_of_two_objects",
                       "items_updated_in_what_is_called_again"]  # fmt: skip

# Methods of a local class read variables that are in scope once `flatten` has inlined them; it also says which loops run
# over objects and generators.
IN_SCOPE_ONCE_INLINED = ["methods_of_a_local_class_read_variables_as_they_are", "loops_over_an_object_by_its_generator",
                         "truth_and_membership_of_objects",
                         "loops_over_objects_of_two_classes_and_their_generator_methods",
                         "iterators_that_functions_return", "iterators_that_are_kept",
                         "slices_of_an_iterator_up_to_a_bound_that_may_be_none",
                         "unpacks_objects_with_a_length_of_their_own_into_stars"]  # fmt: skip


def calls_by_former_names(tree) -> bool:
    """Whether a call may give a keyword to a parameter that alpha renaming has renamed: `flatten` gives it its name back."""
    former = {n.keyword for n in nodes(tree) if isinstance(n, gast.Name) and getattr(n, "keyword", n.id) != n.id}
    return any(isinstance(n, gast.keyword) and (n.arg is None or n.arg in former) for n in nodes(tree) if former)


@pytest.mark.sampled(one_in=48)
@every_case
def test_values_are_kept_by_every_pass_of_normalization(entry):
    if entry.name in ITEMS_SETTLED_LATER or entry.name in REFUSED_IN_A_BRANCH:
        return
    expected = entry.function(*entry.fresh_args())
    seen = []
    for stage, unit, tree in normalizing(read(entry.function)):
        text = emit.function(tree)
        try:
            later = entry.name in IN_SCOPE_ONCE_INLINED or calls_by_former_names(tree)
            if not later or "flatten" in (stage, *seen):
                same(executed(text, unit, entry.function)(*entry.fresh_args()), expected)
        except Exception as error:
            error.add_note(f"after {stage}:\n{text}")
            raise
        seen.append(stage)
    assert seen == [name for name, *_ in NORMALIZE]


# --- second and third order ------------------------------------------------------------------------------------------


@pytest.mark.sampled(one_in=300)
@pytest.mark.parametrize(("entry", "number"), SECOND_BY_ARGUMENT)
def test_gradient_of_the_gradient(entry, number):
    first = gradient_of(entry.name, number)
    args, before = entry.fresh_args(), entry.fresh_args()
    second = grad(first, number)(*args)
    unchanged(args, before)
    assert np.shape(second) == np.shape(args[number])
    (expected,) = central_difference(first, args, number)
    np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", THIRD)
def test_third_order(name):
    entry = by_name(name)
    number = entry.argnums[0]
    second = grad(gradient_of(name, number), number)
    args, before = entry.fresh_args(), entry.fresh_args()
    third = grad(second, number)(*args)
    unchanged(args, before)
    assert np.shape(third) == np.shape(args[number])
    (expected,) = central_difference(second, args, number)
    np.testing.assert_allclose(third, expected, rtol=1e-4, atol=1e-4 * max(1.0, float(np.max(np.abs(expected)))))


def test_mixed_second_derivatives_are_symmetric():
    def f(x, y):
        total = 0.0
        for i in range(3):
            total = total + np.sin(x * y + i) * x
        return total

    xy = grad(grad(f, 0), 1)(0.7, 1.3)
    yx = grad(grad(f, 1), 0)(0.7, 1.3)
    (expected,) = central_difference(grad(f, 0), (0.7, 1.3), 1)
    np.testing.assert_allclose((xy, yx), (expected, expected), rtol=1e-6)


def test_a_small_error_is_noticed():
    """The comparison notices a gradient that is off by two parts in a hundred thousand."""
    entry = by_name("rosenbrock")
    (expected,) = differences_of("rosenbrock")[:1]
    (gradient,) = grad(entry.function, entry.argnums[:1])(*copied(entry.args))
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(np.asarray(gradient) * (1 + 2e-5), expected, rtol=1e-5, atol=1e-6)
