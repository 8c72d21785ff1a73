//! `distributions.json`: numbers of every distribution, to the last bit.

use super::json::{Object, document, hex, string};
use crate::streams::distributions::{Element, geometric, laplace, lognormal, of_word};
use crate::streams::floats::{exponential_f64, normal_pair_f64};
use crate::streams::{Seed, block, root_key, stream_bytes};

/// Elements of a range.
const LEN: usize = 16;
/// The smallest positive number.
const TINY: f64 = f64::from_bits(1);

/// The kinds with their parameters: ordinary ones, those around each change of the method, and the
/// ends of what is accepted.
const REALS: &[(&str, &[&[f64]])] = &[
    ("lognormal", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 0.0], &[0.0, 400.0], &[1e308, 1e308]]),
    (
        "gamma",
        &[
            &[1.0],
            &[2.5],
            &[0.5],
            &[0.01],
            &[1e-300],
            &[TINY],
            &[100.0],
            &[1e6],
            &[1e17],
            &[f64::MAX],
        ],
    ),
    ("chi_square", &[&[1.0], &[5.0], &[TINY], &[1e9], &[f64::MAX]]),
    (
        "beta",
        &[
            &[1.0, 1.0],
            &[2.0, 3.5],
            &[0.5, 0.5],
            &[0.01, 20.0],
            &[1e-300, 3e-300],
            &[TINY, TINY],
            &[TINY, 1.0],
            &[f64::MAX, f64::MAX],
            &[f64::MAX, TINY],
        ],
    ),
    ("student_t", &[&[5.0], &[1.0], &[0.5], &[0.01], &[TINY], &[30.0], &[1e9], &[f64::MAX]]),
    ("laplace", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 0.0], &[0.0, TINY], &[1e308, 1e308]]),
    ("scaled_uniform", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 7.0], &[0.0, f64::MAX]]),
    ("scaled_normal", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 0.0], &[1e308, 1e308]]),
    ("scaled_exponential", &[&[1.0], &[0.25], &[0.0], &[TINY], &[f64::MAX]]),
    ("rayleigh", &[&[1.0], &[0.25], &[0.0], &[f64::MAX]]),
    ("weibull", &[&[1.0], &[2.5], &[0.3], &[1e-3], &[TINY], &[f64::MAX]]),
    ("pareto", &[&[1.0], &[2.5], &[0.3], &[1e-3], &[1e10], &[TINY], &[f64::MAX]]),
    ("power", &[&[1.0], &[2.5], &[0.3], &[1e-3], &[TINY], &[f64::MAX]]),
    ("gumbel", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 0.0], &[1e308, 1e308]]),
    ("logistic", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 0.0], &[1e308, 1e308]]),
    ("cauchy", &[&[0.0, 1.0], &[-3.5, 0.25], &[7.0, 0.0], &[1e308, 1e308]]),
    (
        "triangular",
        &[&[0.0, 0.5, 1.0], &[-3.0, -3.0, 8.0], &[1.0, 2.0, 2.0], &[-8e307, 0.0, 8e307]],
    ),
    ("wald", &[&[1.0, 1.0], &[3.0, 0.25], &[1e-300, 1e300], &[1e300, 1e-300], &[2.0, 1e6]]),
    (
        "fisher_f",
        &[&[1.0, 1.0], &[5.0, 2.0], &[0.5, 30.0], &[TINY, TINY], &[TINY, 1e308], &[1e9, 3.0]],
    ),
    (
        "noncentral_chi_square",
        &[
            &[1.0, 0.0],
            &[3.0, 2.5],
            &[0.5, 0.0],
            &[0.5, 3.0],
            &[0.25, 500.0],
            &[1.5, 1e-300],
            &[TINY, TINY],
            &[TINY, 1e20],
            &[0.999, 1e300],
            &[f64::MAX, f64::MAX],
        ],
    ),
    (
        "noncentral_f",
        &[
            &[1.0, 1.0, 0.0],
            &[5.0, 2.0, 3.0],
            &[0.5, 30.0, 4.0],
            &[TINY, TINY, 0.0],
            &[TINY, TINY, 5.0],
            &[0.3, 0.01, 50.0],
            &[1.0, TINY, 1.0],
            &[1e9, 1e308, 1e308],
        ],
    ),
    ("log_gamma", &[&[1.0], &[2.5], &[0.3], &[1e-5], &[TINY], &[1e6], &[f64::MAX]]),
    ("maxwell", &[&[1.0], &[0.25], &[0.0], &[f64::MAX]]),
];
/// Counts of several real parameters.
const COUNTS_OF_REALS: &[(&str, &[&[f64]])] = &[
    (
        "negative_binomial",
        &[
            &[1.0, 0.5],
            &[2.5, 0.25],
            &[0.3, 0.001],
            &[100.0, 0.9],
            &[TINY, 0.5],
            &[7.0, 1.0],
            &[20.0, 0.6],
            &[1e6, 0.01],
            &[1.0, 1.2e-18],
            &[9e15, 0.001],
        ],
    ),
    (
        "hypergeometric",
        &[
            &[0.0, 0.0, 0.0],
            &[5.0, 0.0, 3.0],
            &[0.0, 5.0, 3.0],
            &[10.0, 20.0, 7.0],
            &[20.0, 10.0, 25.0],
            &[50.0, 60.0, 40.0],
            &[60.0, 50.0, 90.0],
            &[1000.0, 3000.0, 39.0],
            &[1000.0, 3000.0, 40.0],
            &[1e8, 9e8, 5e8],
            &[9e8, 1e8, 50.0],
            &[4503599627370496.0, 4503599627370496.0, 4503599627370496.0],
            &[9007199254740991.0, 1.0, 9007199254740992.0],
            &[1e8, 9e15, 1e9],
        ],
    ),
];
const COUNTS: &[(&str, &[f64])] = &[
    ("geometric", &[0.5, 0.01, 0.25, 0.2500001, 0.9, 1.0, 1e-19, TINY]),
    ("zipf", &[2.0, 1.5, 1.0000001, 1.999, 3.0, 10.0, 63.9, 64.0, 1e300]),
    ("log_series", &[0.0, TINY, 0.25, 0.250001, 0.7, 0.999, 1.0 - f64::EPSILON / 2.0]),
    (
        "poisson",
        &[0.0, TINY, 0.5, 3.0, 9.999, 10.0, 10.5, 55.5, 1e6, 1e18, 9_223_372_036_854_775_808.0],
    ),
];
const BINOMIALS: &[(u64, f64)] = &[
    (0, 0.5),
    (1, 0.5),
    (10, 0.0),
    (10, 1.0),
    (20, 0.3),
    (20, 0.75),
    (1000, 0.001),
    (33, 0.31),
    (100, 0.5),
    (100, 0.95),
    (1_000_000_000, 0.3),
    (u64::MAX, 0.5),
    (u64::MAX, 0.9999),
    (u64::MAX, TINY),
    (1_000_000, 1e-6),
];

pub(super) fn file() -> String {
    let mut cases = Vec::new();
    for (engine, id) in [("ars7", 0), ("philox4x32", 3)] {
        let stream = Stream { engine, id, key: root_key(engine, &Seed::Natural(42)) };
        for start in [0, (1 << 33) + 1] {
            for &(kind, sets) in REALS {
                for &parameters in sets {
                    let values = stream.range(start, |e| stream.real(kind, parameters, e));
                    let double = |x: &f64| string(&format!("{:016x}", x.to_bits()));
                    let single = |x: &f64| string(&format!("{:08x}", (*x as f32).to_bits()));
                    let singles = values.iter().map(single).collect();
                    let doubles = values.iter().map(double).collect();
                    cases.push(stream.case(kind, "f64", None, parameters, start, doubles));
                    cases.push(stream.case(kind, "f32", None, parameters, start, singles));
                }
            }
            for &(kind, sets) in COUNTS {
                for &parameter in sets {
                    let values = stream.range(start, |e| stream.count(kind, parameter, e));
                    let values = values.into_iter().map(whole).collect();
                    cases.push(stream.case(kind, "u64", None, &[parameter], start, values));
                }
            }
            for &(kind, sets) in COUNTS_OF_REALS {
                for &parameters in sets {
                    let values = stream.range(start, |e| stream.count_of(kind, parameters, e));
                    let values = values.into_iter().map(whole).collect();
                    cases.push(stream.case(kind, "u64", None, parameters, start, values));
                }
            }
            for &(n, p) in BINOMIALS {
                let values = stream.range(start, |e| stream.element(e, |e| e.binomial(n, p)));
                let values = values.into_iter().map(whole).collect();
                cases.push(stream.case("binomial", "u64", Some(n), &[p], start, values));
            }
        }
    }
    let about = "values start, start + 1 and so on of a distribution, from stream number stream of the key of the integer seed 42. Floats and \
                 parameters are the hexadecimal digits of their bits, the highest first; n is an integer.";
    document("headwater.vectors.distributions/1", about, &cases)
}

struct Stream {
    engine: &'static str,
    key: [u8; 16],
    id: u64,
}

impl Stream {
    fn word(&self, e: u64) -> u64 {
        let bytes = stream_bytes(self.engine, self.key, self.id, 0, u128::from(e) * 8, 8);
        u64::from_le_bytes(core::array::from_fn(|i| bytes[i]))
    }

    fn range<T>(&self, start: u64, element: impl Fn(u64) -> T) -> Vec<T> {
        (start..).take(LEN).map(element).collect()
    }

    /// Calls `number` with the words that element `e` owns.
    fn element<T>(&self, e: u64, number: impl Fn(&Element<'_>) -> T) -> T {
        let block = |draw: u16| {
            let counter = u128::from(self.id) << 80 | u128::from(draw) << 64 | u128::from(e);
            let block = block(self.engine, self.key, counter);
            [block as u64, (block >> 64) as u64]
        };
        number(&Element { block: &block })
    }

    fn real(&self, kind: &str, parameters: &[f64], e: u64) -> f64 {
        let first = parameters[0];
        match kind {
            "lognormal" => {
                let pair = normal_pair_f64([e & !1, e | 1].map(|e| self.word(e)));
                lognormal(pair[(e % 2) as usize], first, parameters[1])
            }
            "scaled_normal" => {
                let pair = normal_pair_f64([e & !1, e | 1].map(|e| self.word(e)));
                first + parameters[1] * pair[(e % 2) as usize]
            }
            "wald" => self.element(e, |e| e.wald(first, parameters[1])),
            "fisher_f" => self.element(e, |e| e.fisher_f(first, parameters[1])),
            "noncentral_chi_square" => {
                self.element(e, |e| e.noncentral_chi_square(first, parameters[1]))
            }
            "noncentral_f" => {
                self.element(e, |e| e.noncentral_f(first, parameters[1], parameters[2]))
            }
            "log_gamma" => self.element(e, |e| e.log_gamma(first)),
            "maxwell" => self.element(e, |e| e.maxwell(first)),
            "laplace" => laplace(self.word(e), first, parameters[1]),
            "gamma" => self.element(e, |e| e.gamma(first)),
            "chi_square" => self.element(e, |e| e.chi_square(first)),
            "beta" => self.element(e, |e| e.beta(first, parameters[1])),
            "student_t" => self.element(e, |e| e.student_t(first)),
            _ => of_word(kind, self.word(e), parameters),
        }
    }

    fn count(&self, kind: &str, parameter: f64, e: u64) -> u64 {
        match kind {
            "geometric" => geometric(exponential_f64(self.word(e)), parameter),
            "poisson" => self.element(e, |e| e.poisson(parameter)),
            "zipf" => self.element(e, |e| e.zipf(parameter)),
            "log_series" => self.element(e, |e| e.log_series(parameter)),
            _ => unreachable!("{kind}"),
        }
    }

    fn count_of(&self, kind: &str, p: &[f64], e: u64) -> u64 {
        match kind {
            "negative_binomial" => self.element(e, |e| e.negative_binomial(p[0], p[1])),
            "hypergeometric" => {
                let [good, bad, sample] = [p[0], p[1], p[2]].map(|n| n as u64);
                self.element(e, |e| e.hypergeometric(good, bad, sample))
            }
            _ => unreachable!("{kind}"),
        }
    }

    fn case(
        &self,
        kind: &str,
        value: &str,
        n: Option<u64>,
        parameters: &[f64],
        start: u64,
        values: Vec<String>,
    ) -> Object {
        let parameters: Vec<String> =
            parameters.iter().map(|x| string(&format!("{:016x}", x.to_bits()))).collect();
        let mut case = vec![
            ("kind", string(kind)),
            ("value", string(value)),
            ("engine", string(self.engine)),
            ("seed", string("42")),
            ("key", hex(&self.key)),
            ("stream", self.id.to_string()),
        ];
        if let Some(n) = n {
            case.push(("n", whole(n)));
        }
        case.push(("parameters", format!("[{}]", parameters.join(", "))));
        case.push(("start", whole(start)));
        case.push(("values", format!("[{}]", values.join(", "))));
        case
    }
}

fn whole(n: u64) -> String {
    string(&n.to_string())
}
