//! The table: each kind of numbers once.
//!
//! An entry has the kind's number, which never changes, how it is made of its values, and its
//! facts. A new kind takes the next number, because Java and other native callers pass the numbers.

use super::draw::{self, Counts, Endless, Held, Job, Normals, Outcomes, Reals, Scaled};
use super::draw::{Trials, Vectors, lent, once, unless};
use super::entry::kinds;
use super::facts::types;
use super::plain::{ComplexNormal, Exponential, Integers, Normal, Order, Uniform, Words};
use super::value::Values;
use super::{Dtype, Facts, Form, Fronts, Parameter, Range, Type};
use crate::Error;
use crate::distributions::{
    Beta, Binomial, Cauchy, ChiSquare, Dirichlet, FisherF, Gamma, Geometric, Gumbel,
    Hypergeometric, Laplace, LogGamma, LogNormal, LogSeries, Logistic, Maxwell,
    MultivariateHypergeometric, NegativeBinomial, NoncentralChiSquare, NoncentralF, Pareto,
    Poisson, Power, Rayleigh, ScaledExponential, ScaledNormal, ScaledUniform, Sobol, StudentT,
    Triangular, TruncatedNormal, VonMises, Wald, Weibull, Zipf,
};

/// The facts that an entry leaves out.
const PLAIN: Facts = Facts {
    name: "",
    about: "",
    method: "",
    parameters: &[],
    types: &[],
    vectors: false,
    fronts: Fronts::NONE,
};

/// Real numbers whose elements own their blocks.
const OWN_REALS: &[Type] = types![F64: 0 / 1, F32: 0 / 1];
/// Counts whose elements own their blocks.
const OWN_COUNTS: &[Type] = types![I64: 0 / 1, U64: 0 / 1];

const TRIALS: Parameter = Parameter::new("trials", Form::Count, Range::ANY).numpy("n");

kinds! {
    /// The stream's bytes as they are, in integers without a sign.
    Words = 0: |_| Words, Facts {
        name: "words",
        about: "the stream's words",
        types: types![U64: 1 / 1, U32: 1 / 2, U8: 1 / 8],
        ..PLAIN
    };

    /// Uniform numbers in [0, 1).
    Uniform = 1: |_| Uniform, Facts {
        name: "uniform",
        about: "uniform numbers in [0, 1)",
        types: types![F64: 1 / 1, F32: 1 / 2, F16: 1 / 4, Bf16: 1 / 4],
        ..PLAIN
    };

    /// Normal numbers of mean 0 and standard deviation 1.
    Normal = 2: |_| Normal, Facts {
        name: "normal",
        about: "normal numbers, mean 0 and standard deviation 1",
        types: types![F64: 2 / 2, F32: 1 / 2, F16: 1 / 2, Bf16: 1 / 2],
        ..PLAIN
    };

    /// Exponential numbers of mean 1.
    Exponential = 3: |_| Exponential, Facts {
        name: "exponential",
        about: "exponential numbers, mean 1",
        types: types![F64: 1 / 1],
        ..PLAIN
    };

    /// Complex normal numbers, whose squared sizes have mean 1.
    ComplexNormal = 4: |_| ComplexNormal, Facts {
        name: "complex_normal",
        about: "complex normal numbers, the real part first; their squared sizes have mean 1",
        types: types![C128: 2 / 1, C64: 1 / 1],
        fronts: Fronts { java: Some("complexNormal"), ..Fronts::NONE },
        ..PLAIN
    };

    /// Integers from `low` to `high`, both included, each as likely as any other.
    Integers = 5: |v| Integers { low: v.integer(0)?, high: v.integer(1)? },
    Facts {
        name: "integers",
        about: "integers from `low` to `high`, both included",
        parameters: &[
            Parameter::new("low", Form::Integer, Range::ANY),
            Parameter::new("high", Form::Integer, Range::ANY),
        ],
        types: types![
            I64: 1 / 1, U64: 1 / 1, I32: 1 / 2, U32: 1 / 2, I16: 1 / 2, U16: 1 / 2, I8: 1 / 2,
            U8: 1 / 2,
        ],
        ..PLAIN
    };

    /// The numbers below `n` in random order: element i is the number at place i.
    Permutation = 6: |v| Order { n: v.count(0)? }, Facts {
        name: "permutation",
        about: "the numbers below `n` in random order",
        parameters: &[Parameter::new("n", Form::Count, Range::ANY)],
        types: types![U64: 0 / 1, I64: 0 / 1],
        ..PLAIN
    };

    /// Lognormal numbers.
    LogNormal = 7: |v| Reals(LogNormal::new(v.real(0)?, v.real(1)?)?),
    Facts {
        name: "lognormal",
        about: "lognormal numbers: e to the power of `mu` + `sigma` * x, with the elements of \
                {normal} as x",
        method: "exponential of `normal_f64`",
        parameters: &[
            Parameter::real("mu", Range::FINITE).java("mean").numpy("mean").or(0.0),
            Parameter::real("sigma", Range::FROM_0).java("deviation").or(1.0),
        ],
        types: types![F64: 2 / 2, F32: 2 / 2],
        fronts: Fronts::all("lognormal", "logNormal"),
        ..PLAIN
    };

    /// Gamma numbers of scale 1.
    Gamma = 8: |v| Reals(Gamma::new(v.real(0)?)?), Facts {
        name: "gamma",
        about: "gamma numbers of this shape and scale 1",
        method: "Marsaglia and Tsang; smaller shapes by a power",
        parameters: &[Parameter::real("shape", Range::POSITIVE)],
        types: OWN_REALS,
        fronts: Fronts::all("standard_gamma", "gamma"),
        ..PLAIN
    };

    /// Gamma numbers times a scale.
    ScaledGamma = 9: |v| {
        let numbers = Reals(Gamma::new(v.real(0)?)?);
        let scale = v.real(1)?;
        unless(scale.is_finite() && scale >= 0.0, "scale", Range::FROM_0.need)?;
        Scaled { numbers, scale }
    },
    Facts {
        name: "scaled_gamma",
        about: "gamma numbers of this shape, multiplied by `scale`",
        method: "a gamma number times the scale, rounded in the type of the array",
        parameters: &[
            Parameter::real("shape", Range::POSITIVE),
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: OWN_REALS,
        fronts: Fronts::python("gamma"),
        ..PLAIN
    };

    /// Chi-square numbers.
    ChiSquare = 10: |v| Reals(ChiSquare::new(v.real(0)?)?), Facts {
        name: "chi_square",
        about: "chi-square numbers of `k` degrees of freedom",
        method: "twice a gamma number",
        parameters: &[Parameter::real("k", Range::POSITIVE).java("degrees").numpy("df")],
        types: OWN_REALS,
        fronts: Fronts::all("chisquare", "chiSquare"),
        ..PLAIN
    };

    /// Beta numbers.
    Beta = 11: |v| Reals(Beta::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "beta",
        about: "beta numbers of the shapes `a` and `b`, whose mean is a / (a + b)",
        method: "Joehnk for shapes up to 1, else two gamma numbers",
        parameters: &[
            Parameter::real("a", Range::POSITIVE),
            Parameter::real("b", Range::POSITIVE),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("beta", "beta"),
        ..PLAIN
    };

    /// Numbers of Student's t distribution.
    StudentT = 12: |v| Reals(StudentT::new(v.real(0)?)?), Facts {
        name: "student_t",
        about: "numbers of Student's t distribution with `nu` degrees of freedom",
        method: "Bailey, without rejection",
        parameters: &[Parameter::real("nu", Range::POSITIVE).java("degrees").numpy("df")],
        types: OWN_REALS,
        fronts: Fronts::all("standard_t", "studentT"),
        ..PLAIN
    };

    /// Geometric numbers, from 1.
    Geometric = 13: |v| Endless(Geometric::new(v.real(0)?)?), Facts {
        name: "geometric",
        about: "geometric numbers, from 1: trials up to the first success, each of probability `p`",
        method: "inversion",
        parameters: &[Parameter::real("p", Range::CHANCE).java("probability")],
        types: types![I64: 1 / 1, U64: 1 / 1],
        fronts: Fronts::all("geometric", "geometric"),
        ..PLAIN
    };

    /// Poisson numbers.
    Poisson = 14: |v| {
        let mean = v.real(0)?;
        let signed = unless(mean <= draw::POISSON_MOST, "mean", draw::POISSON_NEED);
        Counts { numbers: Poisson::new(mean)?, signed }
    },
    Facts {
        name: "poisson",
        about: "Poisson numbers of this mean",
        method: "inversion for means below 10, else Hoermann",
        parameters: &[Parameter::real("mean", Range::RATE).numpy("lam").or(1.0)],
        types: OWN_COUNTS,
        fronts: Fronts::all("poisson", "poisson"),
        ..PLAIN
    };

    /// Binomial numbers.
    Binomial = 15: |v| {
        let trials = v.count(0)?;
        let signed = unless(trials <= i64::MAX as u64, "trials", draw::TRIALS_NEED);
        Counts { numbers: Binomial::new(trials, v.real(1)?)?, signed }
    },
    Facts {
        name: "binomial",
        about: "binomial numbers: successes among `trials` trials, each of probability `p`",
        method: "inversion for means below 10, else Hoermann",
        parameters: &[TRIALS, Parameter::real("p", Range::PROBABILITY).java("probability")],
        types: OWN_COUNTS,
        fronts: Fronts::all("binomial", "binomial"),
        ..PLAIN
    };

    /// Normal numbers between two ends.
    TruncatedNormal = 16: |v| Reals(TruncatedNormal::new(v.real(0)?, v.real(1)?, v.real(2)?, v.real(3)?)?),
    Facts {
        name: "truncated_normal",
        about: "normal numbers of this mean and standard deviation, given that they are from \
                `low` to `high`. Either end may be infinite, and both may lie far from the mean",
        method: "rejection from three proposals (Robert in the tails)",
        parameters: &[
            Parameter::real("mean", Range::FINITE).numpy("loc").or(0.0),
            Parameter::real("deviation", Range::POSITIVE).numpy("scale").or(1.0),
            Parameter::real("low", Range::BELOW_HIGH),
            Parameter::real("high", Range::ANY),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("truncated_normal", "truncatedNormal"),
        ..PLAIN
    };

    /// Angles of von Mises' distribution.
    VonMises = 17: |v| Reals(VonMises::new(v.real(0)?, v.real(1)?)?),
    Facts {
        name: "von_mises",
        about: "angles from -pi to pi of von Mises' distribution around `mu` with concentration \
                `kappa`",
        method: "rejection from a normal number",
        parameters: &[
            Parameter::real("mu", Range::ANGLE).java("mean"),
            Parameter::real("kappa", Range::FROM_0).java("concentration"),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("vonmises", "vonMises"),
        ..PLAIN
    };

    /// Outcomes from 0, each as likely as its share in the weights.
    Categorical = 18: |v| Outcomes(v.buckets(0)?), Facts {
        name: "categorical",
        about: "outcomes, from 0, each as likely as its share in `weights`, which need not add \
                up to 1",
        method: "alias table of Walker, one word for each number",
        parameters: &[Parameter::new("weights", Form::Buckets, Range::WEIGHTS)],
        types: types![I64: 1 / 1, U64: 1 / 1, U32: 1 / 1],
        fronts: Fronts::python_and_java("categorical", "categorical"),
        ..PLAIN
    };

    /// Vectors of shares, which add up to 1.
    Dirichlet = 19: |v| Vectors(Dirichlet::new(v.reals(0)?)?),
    Facts {
        name: "dirichlet",
        about: "vectors of shares, which add up to 1, of the shapes `alpha`",
        method: "gamma numbers over their sum",
        parameters: &[Parameter::new("alpha", Form::Reals, Range::SHAPES)],
        types: types![F64: 0 / 1],
        vectors: true,
        fronts: Fronts::python_and_java("dirichlet", "dirichlet"),
        ..PLAIN
    };

    /// Vectors that say how often each outcome occurs.
    Multinomial = 20: |v| Trials { trials: v.count(0)?, shares: v.shares(1)? },
    Facts {
        name: "multinomial",
        about: "vectors that say how often each outcome occurs in `trials` trials. The `weights` \
                need not add up to 1",
        method: "binomial counts of what is left",
        parameters: &[
            TRIALS,
            Parameter::new("weights", Form::Shares, Range::SUM).numpy("pvals"),
        ],
        types: OWN_COUNTS,
        vectors: true,
        fronts: Fronts::python_and_java("multinomial", "multinomial"),
        ..PLAIN
    };

    /// Normal vectors.
    MultivariateNormal = 21: |v| {
        let mean = v.reals(0)?;
        let factor = v.factor(1, mean.len())?;
        Normals::new(mean, factor)?
    },
    Facts {
        name: "multivariate_normal",
        about: "normal vectors. The `covariance` is positive semidefinite, and only its lower \
                triangle is read",
        method: "normal numbers times the factor",
        parameters: &[
            Parameter::new("mean", Form::Reals, Range::REALS),
            Parameter::new("covariance", Form::Factor, Range::SEMIDEFINITE).numpy("cov"),
        ],
        types: types![F64: 2 / 2],
        vectors: true,
        fronts: Fronts::python_and_java("multivariate_normal", "multivariateNormal"),
        ..PLAIN
    };

    /// Points of Sobol's sequence.
    Sobol = 22: |v| {
        let dimension = usize::try_from(v.count(0)?).unwrap_or(usize::MAX);
        let make = if v.flag(1)? { Sobol::new } else { Sobol::plain };
        Vectors(make(dimension)?)
    },
    Facts {
        name: "sobol",
        about: "points of Sobol's sequence of `dimension` dimensions. The stream scrambles the \
                sequence if `scramble` is true",
        method: "Joe and Kuo's numbers, scrambled by Owen's method",
        parameters: &[
            Parameter::new("dimension", Form::Count, Range::DIMENSION).numpy("d"),
            Parameter::new("scramble", Form::Flag, Range::ANY).or(1.0),
        ],
        types: types![F64: 0 / 1],
        vectors: true,
        fronts: Fronts::python_and_java("sobol", "sobol"),
        ..PLAIN
    };

    /// Numbers of Laplace's distribution.
    Laplace = 23: |v| Reals(Laplace::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "laplace",
        about: "numbers of Laplace's distribution around `mean`, on either side of which their \
                distance is exponential with the mean `scale`",
        method: "inversion",
        parameters: &[
            Parameter::real("mean", Range::FINITE).numpy("loc").or(0.0),
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("laplace", "laplace"),
        ..PLAIN
    };

    /// Uniform numbers between two ends.
    ScaledUniform = 24: |v| Reals(ScaledUniform::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "scaled_uniform",
        about: "uniform numbers from `low` to `high`",
        method: "a uniform number times the width",
        parameters: &[
            Parameter::real("low", Range::UP_TO_HIGH).or(0.0),
            Parameter::real("high", Range::AT_A_DISTANCE).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("uniform", "uniform"),
        ..PLAIN
    };

    /// Normal numbers of any mean and standard deviation.
    ScaledNormal = 25: |v| Reals(ScaledNormal::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "scaled_normal",
        about: "normal numbers of this mean and standard deviation",
        method: "a normal number, multiplied and moved",
        parameters: &[
            Parameter::real("mean", Range::FINITE).numpy("loc").or(0.0),
            Parameter::real("deviation", Range::FROM_0).numpy("scale").or(1.0),
        ],
        types: types![F64: 2 / 2, F32: 2 / 2],
        fronts: Fronts::all("normal", "normal"),
        ..PLAIN
    };

    /// Exponential numbers of any mean.
    ScaledExponential = 26: |v| Reals(ScaledExponential::new(v.real(0)?)?), Facts {
        name: "scaled_exponential",
        about: "exponential numbers, whose mean is `scale`",
        method: "an exponential number times the mean",
        parameters: &[
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("exponential", "exponential"),
        ..PLAIN
    };

    /// Rayleigh's numbers.
    Rayleigh = 27: |v| Reals(Rayleigh::new(v.real(0)?)?), Facts {
        name: "rayleigh",
        about: "numbers of Rayleigh's distribution, whose mode is `scale`",
        method: "inversion",
        parameters: &[
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("rayleigh", "rayleigh"),
        ..PLAIN
    };

    /// Weibull's numbers of scale 1.
    Weibull = 28: |v| Reals(Weibull::new(v.real(0)?)?), Facts {
        name: "weibull",
        about: "numbers of Weibull's distribution of this shape and scale 1",
        method: "inversion",
        parameters: &[
            Parameter::real("shape", Range::POSITIVE).numpy("a"),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("weibull", "weibull"),
        ..PLAIN
    };

    /// Pareto's numbers of the second kind, from 0.
    Pareto = 29: |v| Reals(Pareto::new(v.real(0)?)?), Facts {
        name: "pareto",
        about: "numbers of Pareto's distribution of the second kind (Lomax's), from 0, of this shape",
        method: "inversion",
        parameters: &[
            Parameter::real("shape", Range::POSITIVE).numpy("a"),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("pareto", "pareto"),
        ..PLAIN
    };

    /// Numbers from 0 to 1 whose density is a power.
    Power = 30: |v| Reals(Power::new(v.real(0)?)?), Facts {
        name: "power",
        about: "numbers from 0 to 1 whose density at x is proportional to x to the power of `shape` - 1",
        method: "inversion",
        parameters: &[
            Parameter::real("shape", Range::POSITIVE).numpy("a"),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("power", "power"),
        ..PLAIN
    };

    /// Gumbel's numbers.
    Gumbel = 31: |v| Reals(Gumbel::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "gumbel",
        about: "numbers of Gumbel's distribution of largest values, with this mode and scale",
        method: "inversion",
        parameters: &[
            Parameter::real("mode", Range::FINITE).numpy("loc").or(0.0),
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("gumbel", "gumbel"),
        ..PLAIN
    };

    /// Logistic numbers.
    Logistic = 32: |v| Reals(Logistic::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "logistic",
        about: "numbers of the logistic distribution of this mean and scale",
        method: "inversion",
        parameters: &[
            Parameter::real("mean", Range::FINITE).numpy("loc").or(0.0),
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("logistic", "logistic"),
        ..PLAIN
    };

    /// Cauchy's numbers.
    Cauchy = 33: |v| Reals(Cauchy::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "cauchy",
        about: "numbers of Cauchy's distribution with this median, from which half of them are farther than `scale`",
        method: "inversion",
        parameters: &[
            Parameter::real("median", Range::FINITE).numpy("loc").or(0.0),
            Parameter::real("scale", Range::FROM_0).or(1.0),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("cauchy", "cauchy"),
        ..PLAIN
    };

    /// Triangular numbers.
    Triangular = 34: |v| Reals(Triangular::new(v.real(0)?, v.real(1)?, v.real(2)?)?), Facts {
        name: "triangular",
        about: "numbers from `left` to `right`, whose density is a triangle with its peak at `mode`",
        method: "inversion",
        parameters: &[
            Parameter::real("left", Range::UP_TO_MODE),
            Parameter::real("mode", Range::UP_TO_RIGHT),
            Parameter::real("right", Range::ABOVE_LEFT),
        ],
        types: types![F64: 1 / 1, F32: 1 / 1],
        fronts: Fronts::all("triangular", "triangular"),
        ..PLAIN
    };

    /// Wald's numbers.
    Wald = 35: |v| Reals(Wald::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "wald",
        about: "numbers of Wald's distribution (the inverse Gaussian) of this mean, whose variance is the cube of the mean over `scale`",
        method: "Michael, Schucany and Haas",
        parameters: &[
            Parameter::real("mean", Range::POSITIVE),
            Parameter::real("scale", Range::POSITIVE),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("wald", "wald"),
        ..PLAIN
    };

    /// Fisher's numbers.
    FisherF = 36: |v| Reals(FisherF::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "fisher_f",
        about: "numbers of Fisher's F distribution with `first` and `second` degrees of freedom",
        method: "two gamma numbers",
        parameters: &[
            Parameter::real("first", Range::POSITIVE).numpy("dfnum"),
            Parameter::real("second", Range::POSITIVE).numpy("dfden"),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("f", "fisherF"),
        ..PLAIN
    };

    /// Zipf's numbers, from 1.
    Zipf = 37: |v| Endless(Zipf::new(v.real(0)?)?), Facts {
        name: "zipf",
        about: "numbers of Zipf's distribution, from 1 to 2^63 - 1: k is as likely as k to the power of -`exponent`",
        method: "rejection from a Pareto number (Devroye)",
        parameters: &[
            Parameter::real("exponent", Range::ABOVE_1).numpy("a"),
        ],
        types: OWN_COUNTS,
        fronts: Fronts::all("zipf", "zipf"),
        ..PLAIN
    };

    /// Numbers of the logarithmic series, from 1.
    LogSeries = 38: |v| Endless(LogSeries::new(v.real(0)?)?), Facts {
        name: "log_series",
        about: "numbers of the logarithmic series, from 1: k is as likely as `p` to the power of k, over k",
        method: "Kemp, without rejection",
        parameters: &[
            Parameter::real("p", Range::BELOW_1).java("probability"),
        ],
        types: OWN_COUNTS,
        fronts: Fronts::all("logseries", "logSeries"),
        ..PLAIN
    };

    /// Negative binomial numbers, from 0.
    NegativeBinomial = 39: |v| Endless(NegativeBinomial::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "negative_binomial",
        about: "negative binomial numbers: failures before `successes` successes, each of probability `p`",
        method: "Poisson numbers of gamma means",
        parameters: &[
            Parameter::real("successes", Range::SUCCESSES).numpy("n"),
            Parameter::real("p", Range::CHANCE).java("probability"),
        ],
        types: OWN_COUNTS,
        fronts: Fronts::all("negative_binomial", "negativeBinomial"),
        ..PLAIN
    };

    /// Noncentral chi-square numbers.
    NoncentralChiSquare = 40: |v| Reals(NoncentralChiSquare::new(v.real(0)?, v.real(1)?)?), Facts {
        name: "noncentral_chi_square",
        about: "noncentral chi-square numbers of `k` degrees of freedom",
        method: "a chi-square number and a square, or a Poisson number of pairs of squares",
        parameters: &[
            Parameter::real("k", Range::POSITIVE).java("degrees").numpy("df"),
            Parameter::real("noncentrality", Range::FROM_0).numpy("nonc"),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("noncentral_chisquare", "noncentralChiSquare"),
        ..PLAIN
    };

    /// Noncentral F numbers.
    NoncentralF = 41: |v| Reals(NoncentralF::new(v.real(0)?, v.real(1)?, v.real(2)?)?), Facts {
        name: "noncentral_f",
        about: "numbers of the noncentral F distribution with `first` and `second` degrees of freedom",
        method: "a noncentral chi-square number and a gamma number",
        parameters: &[
            Parameter::real("first", Range::POSITIVE).numpy("dfnum"),
            Parameter::real("second", Range::POSITIVE).numpy("dfden"),
            Parameter::real("noncentrality", Range::FROM_0).numpy("nonc"),
        ],
        types: OWN_REALS,
        fronts: Fronts::all("noncentral_f", "noncentralF"),
        ..PLAIN
    };

    /// Hypergeometric numbers.
    Hypergeometric = 42: |v| Counts {
        numbers: Hypergeometric::new(v.count(0)?, v.count(1)?, v.count(2)?)?,
        signed: Ok(()),
    },
    Facts {
        name: "hypergeometric",
        about: "hypergeometric numbers: good items in a sample of `sample` items, drawn without \
                replacement from `good` and `bad` ones",
        method: "inversion for means below 10, else Stadlober",
        parameters: &[
            Parameter::new("good", Form::Count, Range::POPULATION).numpy("ngood"),
            Parameter::new("bad", Form::Count, Range::ANY).numpy("nbad"),
            Parameter::new("sample", Form::Count, Range::SAMPLE).numpy("nsample"),
        ],
        types: OWN_COUNTS,
        fronts: Fronts::all("hypergeometric", "hypergeometric"),
        ..PLAIN
    };

    /// Vectors that say how many items of each colour a sample has.
    MultivariateHypergeometric = 43: |v| {
        Vectors(MultivariateHypergeometric::new(v.reals(0)?, v.count(1)?)?)
    },
    Facts {
        name: "multivariate_hypergeometric",
        about: "vectors that say how many items of each color are in a sample of `sample` items, \
                drawn without replacement from `colors` items of each",
        method: "hypergeometric numbers of what is left",
        parameters: &[
            Parameter::new("colors", Form::Reals, Range::COLORS),
            Parameter::new("sample", Form::Count, Range::SAMPLE).numpy("nsample"),
        ],
        types: OWN_COUNTS,
        vectors: true,
        fronts: Fronts::python_and_java("multivariate_hypergeometric", "multivariateHypergeometric"),
        ..PLAIN
    };

    /// Logarithms of gamma numbers.
    LogGamma = 44: |v| Reals(LogGamma::new(v.real(0)?)?), Facts {
        name: "log_gamma",
        about: "logarithms of gamma numbers of this shape and scale 1, finite for small shapes too",
        method: "the parts of a gamma number",
        parameters: &[Parameter::real("shape", Range::POSITIVE).numpy("a")],
        types: OWN_REALS,
        fronts: Fronts::all("loggamma", "logGamma"),
        ..PLAIN
    };

    /// Maxwell's numbers.
    Maxwell = 45: |v| Reals(Maxwell::new(v.real(0)?)?), Facts {
        name: "maxwell",
        about: "numbers of Maxwell's distribution: lengths of vectors of three normal numbers of \
                the deviation `scale`",
        method: "the root of a gamma number",
        parameters: &[Parameter::real("scale", Range::FROM_0).or(1.0)],
        types: OWN_REALS,
        fronts: Fronts::all("maxwell", "maxwell"),
        ..PLAIN
    };
}
