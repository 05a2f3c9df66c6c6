"""What of SciPy has a derivative, by part: every public callable, marked covered, flat or refused with the reason.

    python tests/coverage_of_scipy.py        writes tests/coverage_scipy.txt anew

The compiler is asked, as in `coverage_of_numpy`.  A distribution counts as covered where one of its densities has a rule,
a class where one of its methods has, or what it makes: by one, though its others may be refused (docs/functions.md has each
by its name).  A function counts as meaningful where it takes or gives numbers that may be differentiated, though whole ones
stand beside them.  Only the reasons of refusals stand here, by group.
"""

from __future__ import annotations

import importlib
import pathlib
from collections import Counter
from typing import Any

import coverage_of_numpy as of_numpy
import scipy

from s2sgrad.ir import relatives
from s2sgrad.rules import instances
from s2sgrad.rules.table import lookup

FILE = pathlib.Path(__file__).with_name("coverage_scipy.txt")
NAMES = (
    "special stats linalg signal signal.windows fft integrate optimize interpolate ndimage spatial.distance sparse "
    "sparse.linalg"
)
PARTS = [f"scipy.{name}" for name in NAMES.split(" ")]
DENSITIES = ("pdf", "logpdf", "pmf", "logpmf")

# Functions that have no derivative at all: they count neither for nor against.
NONE = {
    "asks or sets options": (
        "errstate geterr seterr register_backend set_backend set_global_backend set_workers skip_backend show_options "
        "use_solver"
    ),
    "reads or writes files": "load_npz save_npz",
    "draws pictures or prints": "boxcox_normplot ppcc_plot yeojohnson_normplot linprog_verbose_callback",
    "is the base of classes, or makes them": "make_distribution rv_continuous rv_discrete sparray spmatrix BivariateSpline",
    "holds results, bounds or a choice of method": (
        "OptimizeResult RootResults OdeSolution DenseOutput BFGS SR1 HessianUpdateStrategy "
        "BroydenFirst InverseJacobian KrylovJacobian LbfgsInvHessProduct BootstrapMethod MonteCarloMethod "
        "PermutationMethod SuperLU"
    ),
    "is one step of a solver": "BDF DOP853 LSODA OdeSolver RK23 RK45 Radau",
    "draws at random": (
        "random_correlation random_table ortho_group special_ortho_group unitary_group uniform_direction "
        "clarkson_woodruff_transform multiscale_graphcorr"
    ),
    "takes orders and no number that may be differentiated": (
        "chebyc chebys chebyt chebyu hermite hermitenorm laguerre legendre sh_chebyt sh_chebyu sh_legendre factorial2 "
        "LaplacianNd"
    ),
    "finds whole numbers or structure": (
        "iterate_structure generate_knots binomtest mode quantile_test multivariate_hypergeom safely_cast_index_arrays "
        "dok_array dok_matrix"
    ),
    "is withdrawn by SciPy": "interp2d",
    "compares a gradient with differences": "check_grad",
}
# Functions that could have one.
MISSING = {
    "use the functions of its frequencies, poles or samples": (
        "StateSpace TransferFunction ZerosPolesGain lti dlti ShortTimeFFT CZT ZoomFFT"
    ),
    "its frequency is smooth beside an order that jumps: write the formula of the order that it finds": (
        "buttord cheb1ord cheb2ord ellipord band_stop_obj"
    ),
    "use np.roots, and take the mean of those that are near": "unique_roots",
    "its weights are smooth in a parameter: write the polynomial's recurrence": "cg_roots js_roots la_roots",
    "it is an eigenvector: call np.linalg.eigh of its matrix": "dpss",
    "it draws at random what it compares with: call the statistic itself": (
        "bootstrap permutation_test monte_carlo_test goodness_of_fit power dunnett sobol_indices qmc_quad"
    ),
    "a solver takes its numbers as constants": "Bounds LinearConstraint NonlinearConstraint",
    "sum the logpdf of what was seen and the logsf of what was not": "CensoredData",
    "make the polynomial of coefficients: np.polyval": "assoc_laguerre gegenbauer genlaguerre jacobi sh_jacobi",
    "use CubicSpline, make_interp_spline or RegularGridInterpolator": (
        "AAA FloaterHormannInterpolator Rbf bisplrep splprep SmoothBivariateSpline SmoothSphereBivariateSpline make_splprep "
        "pade approximate_taylor_polynomial cspline2d qspline2d spline_filter"
    ),
    "it finds its result by a search of its own": (
        "bracket direct line_search remez fit boxcox_normmax yeojohnson_normmax ppcc_max closest_STFT_dual_window ecdf"
    ),
    "use the logpdf of stats.norm and its kin": (
        "Binomial Normal Uniform Logistic Mixture Covariance truncate order_statistic abs exp log"
    ),
}
_REASONS = {name: (kind, why) for kind, groups in (("none", NONE), ("missing", MISSING)) for why, names in groups.items()
            for name in names.split()}  # fmt: skip


def entries(part: str) -> dict[str, Any]:
    """The public callables of a part by their names."""
    library = importlib.import_module(part)
    names = (name for name in getattr(library, "__all__", dir(library)) if not name.startswith("_"))
    found = {name: getattr(library, name, None) for name in names}
    return {name: value for name, value in found.items() if callable(value) and not of_numpy._is_apart(value)}


def mark(part: str, name: str, value: Any) -> tuple[str, str]:
    """(covered, flat or refused; how or why)."""
    found = of_numpy.mark(part, name, value)
    if found[0] in ("covered", "flat"):
        return found
    if instances.of(value) is not None or instances.methods_of(value):
        return "covered", "what it makes"
    methods = vars(value).values() if isinstance(value, type) else [getattr(value, m, None) for m in DENSITIES]
    if any(lookup(method) is not None for method in methods if callable(method)):
        return "covered", "its methods"
    kind, why = _REASONS.get(name, ("missing", ""))
    return "refused", f"no derivative: it {why}" if kind == "none" else why


def marks() -> list[tuple[str, str, str, str]]:
    """(part, name, mark, how or why) of all."""
    for module in relatives.MODULES:
        importlib.import_module(module)
    return [(part, name, *mark(part, name, value)) for part in PARTS for name, value in sorted(entries(part).items())]


def counts(found: list[tuple[str, str, str, str]]) -> dict[str, tuple[int, int]]:
    """By part how many are covered or flat, and how many could have a derivative."""
    could = [row for row in found if not row[3].startswith("no derivative")]
    every, good = Counter(row[0] for row in could), Counter(row[0] for row in could if row[2] != "refused")
    return {part: (good[part], every[part]) for part in PARTS}


def text() -> str:
    """The file."""
    found = marks()
    by_part = counts(found)
    version = ".".join(scipy.__version__.split(".")[:2])
    lines = [f"# SciPy {version}, what is covered or flat of what could have a derivative"]
    lines += [f"{part:28} {good} of {every}, {good / every:.1%}" for part, (good, every) in by_part.items()]
    for part in PARTS:
        lines += ["", f"## {part}"]
        lines += [f"{name:28} {m}{': ' + why if why else ''}" for p, name, m, why in found if p == part]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
    print(text().partition("\n\n")[0])
