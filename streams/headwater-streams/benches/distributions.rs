//! The speed of distributions on one thread: the least of interleaved rounds, ns for each number.
//!
//! `cargo bench -p headwater-streams --bench distributions`. With `-- --numpy PYTHON`, NumPy's
//! `Generator` fills arrays of the same length in turns with ours, and a ratio follows.
//! `--only TEXT` selects the rows whose name contains the text, `--rounds N` the number of rounds.
//! The least counts, because other programs on the machine can only add time.

use headwater_streams::distributions::{
    Beta, Binomial, Categorical, ChiSquare, Dirichlet, Distribution, Gamma, Geometric, LogNormal,
    Multinomial, MultivariateNormal, Poisson, StudentT, VectorDistribution, VonMises,
};
use headwater_streams::{Key, Stream};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 61;
/// Stays in the second-level cache.
const LEN: usize = 16 << 10;

/// Reads a line of Python, runs it and prints the time of the second run.
const NUMPY: &str = r"
import sys, time
import numpy
n = int(sys.argv[1])
g = numpy.random.default_rng(42)
ten, many = [.1] * 10, [1e-4] * 10000
print(numpy.__version__, flush=True)
for line in sys.stdin:
    start = time.perf_counter_ns()
    eval(line)
    print(time.perf_counter_ns() - start, flush=True)
";

/// The factor of a covariance; its numbers do not change the time.
const FACTOR: [f64; 9] = [1.4, 0.35, 0.0, 0.0, 0.94, 0.0, 0.0, 0.0, 1.0];

type Fill = fn(&Stream, u64, &mut [f64]) -> Result<(), headwater_streams::Error>;

struct Case {
    name: &'static str,
    numpy: String,
    ours: Box<dyn FnMut()>,
}

fn case<T: Copy + Default + 'static>(
    name: &'static str,
    numpy: &str,
    distribution: impl Distribution<T> + 'static,
) -> Case {
    let stream: Stream = Key::from_seed(42).stream(0).unwrap();
    let mut out = vec![T::default(); LEN];
    let ours = move || {
        stream.fill_distribution(&distribution, 0, black_box(&mut out)).unwrap();
    };
    Case { name, numpy: format!("g.{numpy}, size=n)\n"), ours: Box::new(ours) }
}

/// Makes a case of a distribution without parameters.
fn plain(name: &'static str, numpy: &str, fill: Fill) -> Case {
    let stream: Stream = Key::from_seed(42).stream(0).unwrap();
    let mut out = vec![0.0; LEN];
    let ours = move || fill(&stream, 0, black_box(&mut out)).unwrap();
    Case { name, numpy: format!("g.{numpy}\n"), ours: Box::new(ours) }
}

/// Makes a case of a distribution of vectors; each vector counts as one number.
fn vectors<D: VectorDistribution + 'static>(
    name: &'static str,
    numpy: &str,
    dimension: usize,
    distribution: D,
) -> Case
where
    D::Value: Copy + Default,
{
    let stream: Stream = Key::from_seed(42).stream(0).unwrap();
    let mut out = vec![D::Value::default(); LEN * dimension];
    let ours = move || {
        stream.fill_vectors(&distribution, 0, black_box(&mut out)).unwrap();
    };
    Case { name, numpy: format!("g.{numpy}, size=n)\n"), ours: Box::new(ours) }
}

struct Numpy {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Numpy {
    fn start(python: &str) -> Numpy {
        let mut child = Command::new(python)
            .args(["-c", NUMPY, &LEN.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut numpy = Numpy { child, answers };
        println!("NumPy {}", numpy.line());
        numpy
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn time(&mut self, call: &str) -> f64 {
        self.child.stdin.as_mut().unwrap().write_all(call.as_bytes()).unwrap();
        self.line().parse().unwrap()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let python = arguments.iter().position(|a| a == "--numpy").and_then(|i| arguments.get(i + 1));
    let rounds = arguments.iter().position(|a| a == "--rounds").and_then(|i| arguments.get(i + 1));
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let only = arguments.iter().position(|a| a == "--only").and_then(|i| arguments.get(i + 1));
    let mut numpy = python.map(|python| Numpy::start(python));
    let mut cases = vec![
        plain("normal", "standard_normal(size=n)", Stream::fill_normal_f64),
        plain("exponential", "standard_exponential(size=n)", Stream::fill_exponential_f64),
        case::<f64>("lognormal(0, 1)", "lognormal(0, 1", LogNormal::new(0.0, 1.0).unwrap()),
        case::<f64>("gamma(0.5)", "standard_gamma(0.5", Gamma::new(0.5).unwrap()),
        case::<f64>("gamma(2.5)", "standard_gamma(2.5", Gamma::new(2.5).unwrap()),
        case::<f64>("gamma(100)", "standard_gamma(100", Gamma::new(100.0).unwrap()),
        case::<f64>("chi_square(5)", "chisquare(5", ChiSquare::new(5.0).unwrap()),
        case::<f64>("beta(2, 3)", "beta(2, 3", Beta::new(2.0, 3.0).unwrap()),
        case::<f64>("beta(0.5, 0.5)", "beta(.5, .5", Beta::new(0.5, 0.5).unwrap()),
        case::<f64>("student_t(5)", "standard_t(5", StudentT::new(5.0).unwrap()),
        case::<u64>("geometric(0.01)", "geometric(0.01", Geometric::new(0.01).unwrap()),
        case::<u64>("geometric(0.5)", "geometric(0.5", Geometric::new(0.5).unwrap()),
        case::<u64>("poisson(1)", "poisson(1", Poisson::new(1.0).unwrap()),
        case::<u64>("poisson(9)", "poisson(9", Poisson::new(9.0).unwrap()),
        case::<u64>("poisson(20)", "poisson(20", Poisson::new(20.0).unwrap()),
        case::<u64>("poisson(1000)", "poisson(1000", Poisson::new(1000.0).unwrap()),
        case::<u64>("binomial(10, 0.3)", "binomial(10, .3", Binomial::new(10, 0.3).unwrap()),
        case::<u64>("binomial(100, 0.4)", "binomial(100, .4", Binomial::new(100, 0.4).unwrap()),
        case::<u64>(
            "binomial(1e6, 0.2)",
            "binomial(10**6, .2",
            Binomial::new(1_000_000, 0.2).unwrap(),
        ),
        case::<u64>("choice of 10", "choice(10, p=ten", Categorical::new(&[0.1; 10]).unwrap()),
        case::<u64>(
            "choice of 10,000",
            "choice(10000, p=many",
            Categorical::new(&[1e-4; 10_000]).unwrap(),
        ),
        Case {
            name: "table, for a weight",
            numpy: "0\n".into(),
            ours: Box::new(|| {
                let weights: Vec<f64> = (0..LEN).map(|i| 1.0 / (i + 1) as f64).collect();
                black_box(Categorical::new(&weights).unwrap());
            }),
        },
        case::<f64>("von_mises(0, 0.2)", "vonmises(0, .2", VonMises::new(0.0, 0.2).unwrap()),
        case::<f64>("von_mises(0, 4)", "vonmises(0, 4", VonMises::new(0.0, 4.0).unwrap()),
        vectors(
            "dirichlet of 3",
            "dirichlet([.5, 2, 7]",
            3,
            Dirichlet::new(&[0.5, 2.0, 7.0]).unwrap(),
        ),
        vectors(
            "dirichlet(1, 2, 5)",
            "dirichlet([1, 2, 5]",
            3,
            Dirichlet::new(&[1.0, 2.0, 5.0]).unwrap(),
        ),
        vectors(
            "multinomial(100) of 4",
            "multinomial(100, [.1, .2, .3, .4]",
            4,
            Multinomial::new(100, &[0.1, 0.2, 0.3, 0.4]).unwrap(),
        ),
        vectors(
            "multinomial(20) of 4",
            "multinomial(20, [.1, .2, .3, .4]",
            4,
            Multinomial::new(20, &[0.1, 0.2, 0.3, 0.4]).unwrap(),
        ),
        vectors(
            "multinomial(1000) of 4",
            "multinomial(1000, [.1, .2, .3, .4]",
            4,
            Multinomial::new(1000, &[0.1, 0.2, 0.3, 0.4]).unwrap(),
        ),
        vectors(
            "normal vectors of 3",
            "multivariate_normal([0, 0, 0], [[2, .5, 0], [.5, 1, 0], [0, 0, 1]]",
            3,
            MultivariateNormal::new(&[0.0; 3], &FACTOR).unwrap(),
        ),
    ];
    cases.retain(|case| only.is_none_or(|only| case.name.contains(only.as_str())));
    let mut times = vec![(f64::INFINITY, f64::INFINITY); cases.len()];
    for round in 0..=rounds {
        for (case, times) in cases.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (case.ours)();
            let ours = start.elapsed().as_secs_f64() * 1e9 / LEN as f64;
            let theirs = numpy.as_mut().map(|numpy| numpy.time(&case.numpy) / LEN as f64);
            if round > 0 {
                times.0 = ours.min(times.0);
                times.1 = theirs.unwrap_or(f64::INFINITY).min(times.1);
            }
        }
    }
    println!("{:22}{:>12}{:>10}{:>8}", "ns for each number", "headwater", "NumPy", "ratio");
    for (case, &(ours, theirs)) in cases.iter().zip(&times) {
        if theirs.is_finite() {
            println!("{:22}{ours:12.2}{theirs:10.2}{:7.1}x", case.name, theirs / ours);
        } else {
            println!("{:22}{ours:12.2}", case.name);
        }
    }
    if let Some(mut numpy) = numpy {
        drop(numpy.child.stdin.take());
        let _ = numpy.child.wait();
    }
}
