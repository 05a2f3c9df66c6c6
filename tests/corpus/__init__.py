"""The corpus: small functions, each named for what it shows, with a point at which to check it.

`CASES` lists them all; `by_name` finds one.  Some modules write into arrays, in place, and some into lists and objects
(test_corpus.py names them); the others are functional.  Points keep away from kinks, and no function warns.
What is refused stands in refused.py.
"""

from . import (  # noqa: F401
    array_likes,
    arrays,
    asked_objects,
    assignments,
    attempts,
    attributes,
    bound_late,
    branches,
    buffers,
    callables,
    calls,
    checkpoints,
    chosen,
    class_members,
    classes,
    closures,
    collected,
    comprehensions,
    copies,
    decorated,
    dicts,
    drawn,
    exits,
    found,
    handed,
    idioms,
    imports,
    indexing,
    indices,
    iteration,
    kept_closures,
    list_sections,
    lists,
    loops,
    managers,
    methods,
    mixed_lists,
    mutators,
    named_alike,
    named_attributes,
    namespaces,
    naming,
    nested_gradients,
    nested_lists,
    numerics,
    objects,
    operands,
    outside,
    overwritten,
    parts,
    passed_on,
    pulled_back,
    rebinding,
    recursion,
    recursive_objects,
    recursive_writers,
    references,
    remembered,
    scopes,
    shared_lists,
    sharing,
    signatures,
    slotted,
    stacks,
    stateful,
    statements,
    stores,
    subclasses,
    swaps,
    tools,
    tried_objects,
    undecided,
    unforeseen,
    values,
    views,
    whiles,
    writers,
)
from .case import REGISTERED, Case, case

__all__ = ["ALL", "CASES", "RECORDED", "Case", "by_name", "case"]

RECORDED = {
    # `try` around more than one expression: how far its body gets is known to the run alone
    "annotated_in_an_attempt", "appended_before_the_failure", "assertion_that_is_caught", "attempt_in_an_attempt",
    "bound_twice_before_the_failure", "called_object_that_raises", "callee_that_writes_or_raises",
    "comprehensions_in_attempts", "constructor_of_a_dataclass_that_raises", "constructor_that_raises",
    "deque_until_it_raises", "effects_within_what_is_tried", "every_exit_from_an_attempt",
    "exception_that_is_raised_again", "exceptions_of_ones_own", "factor_that_does_not_exist", "factor_that_exists",
    "failures_that_are_suppressed", "finally_between_failure_and_handler", "finally_writes_what_the_body_writes",
    "functions_that_are_given_to_what_tries_them", "functions_that_only_the_run_knows_are_tried",
    "helper_that_does_not_raise", "helper_that_raises", "helper_that_tries_a_method",
    "items_made_by_a_method_that_raises", "linked_objects_that_raise", "loop_that_ends_by_an_exception",
    "loop_that_is_left_by_an_exception", "method_that_raises_in_a_loop", "method_that_raises_when_it_has_written",
    "method_with_an_attempt_of_its_own", "names_of_a_body_that_succeeds", "property_that_raises_when_it_is_read_or_set",
    "raised_and_caught_in_one_function", "return_from_a_loop_in_an_attempt", "root_of_a_function_in_try",
    "shapes_that_do_not_fit", "stores_before_the_failure_stay", "taken_off_until_nothing_is_left",
    "texts_looked_up_in_try", "updated_until_it_fails", "values_that_do_not_fit_their_names", "warning_that_is_an_error",
    # results that are remembered: whether a call runs is known only when it is made
    "table_of_two_indices", "soft_distance_of_two_series", "calls_that_share_their_values", "sum_over_all_parts",
    "remembers_arrays_and_pairs", "remembers_what_was_when_it_was_called", "makes_functions_that_remember",
    "slope_of_what_remembers",
    # a dict that a recursion fills and whose items are not known to be numbers
    "hands_its_dict_on", "remembers_in_a_default", "looks_before_it_computes",
    # iterators that are drawn from in several places: how far each has come is known to the run alone
    "applied_and_left_out_item_by_item", "called_until_a_sentinel", "chain_without_an_end_in_a_generator_with_a_name",
    "counter_drawn_first_or_last", "counter_read_after_a_zip", "first_by_next_and_the_rest_by_a_loop",
    "four_iterators_side_by_side", "generator_beside_itself", "generator_that_skips_and_ends",
    "generator_that_writes_when_it_goes_on", "generator_with_a_name", "generators_one_after_the_other",
    "generators_side_by_side", "greatest_that_an_iterator_has_left", "iterables_that_lists_take_all_items_of",
    "iterator_that_a_branch_chooses", "iterator_that_ends_in_a_function_and_whose_list_grows",
    "iterators_handed_to_functions", "iterators_see_what_is_stored_meanwhile", "iterators_that_ended_see_nothing_new",
    "list_that_a_closure_gives_is_drawn_from", "list_turned_round_while_an_iterator_reads_it",
    "loop_that_goes_on_where_one_stopped", "loops_over_an_iterator_of_a_class",
    "loops_over_an_object_or_a_list_in_a_function", "named_generator_expressions", "next_in_turn",
    "next_inside_of_a_loop_over_the_same", "next_until_nothing_is_left", "one_iterator_twice_in_a_zip",
    "rest_of_an_iterator_unpacked_and_reduced", "slices_of_a_named_iterator", "split_into_two_iterators",
    "sums_that_are_kept_and_used_up", "tool_that_is_handed_on_and_drawn_from_again",
    "tools_keep_the_function_that_they_were_given", "tools_of_constants_between_draws",
    "tools_with_names", "two_generators_in_turns",
}  # fmt: skip
"""Cases without a text, which are recorded: `tests/recorded` judges them."""

ALL = tuple(REGISTERED)  # tests that run the text of a case, decorator included, register it again
CASES = tuple(entry for entry in ALL if entry.name not in RECORDED)


def by_name(name: str) -> Case:
    """The case of this name."""
    return next(entry for entry in ALL if entry.name == name)
