//! Distributions to the last bit, as STREAMS.md defines them: one element at a time, one operation
//! after the other.
//!
//! [`Element`] stands for the words that one element owns. Each method of it is one kind.

use super::floats::{LOGARITHM, SQRT_HALF, exponential_f64, polynomial};

const LOG2_E: f64 = f64::from_bits(0x3FF7_1547_652B_82FE);
const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
/// The coefficients of the sine of s quarters of a turn over s.
const QUARTER: [f64; 8] = [
    1.5707963267948963,
    -0.6459640975062232,
    0.07969262624568337,
    -0.004681754131447062,
    0.0001604411695631063,
    -3.5988107063136794e-6,
    5.688318064017795e-8,
    -6.449471237809134e-10,
];
/// ln k! of 0 to 9 without its leading terms.
const STIRLING: [f64; 10] = [
    0.0,
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
];

const GAMMA: u16 = 0;
const BETA_FIRST: u16 = 1;
const BETA_SECOND: u16 = 2;
const STUDENT_T: u16 = 3;
const POISSON: u16 = 4;
const BINOMIAL: u16 = 5;
const FISHER_FIRST: u16 = 11;
const FISHER_SECOND: u16 = 12;
const WALD: u16 = 13;
const ZIPF: u16 = 14;
const LOG_SERIES: u16 = 15;
const NEGATIVE_BINOMIAL_MEAN: u16 = 16;
const NEGATIVE_BINOMIAL: u16 = 17;
const NONCENTRAL: [u16; 3] = [18, 19, 20];
const NONCENTRAL_F: [u16; 3] = [21, 22, 23];
const NONCENTRAL_F_BELOW: u16 = 24;
const HYPERGEOMETRIC: u16 = 25;
const LOG_GAMMA: u16 = 27;
const MAXWELL: u16 = 28;
/// The least shape of gamma numbers whose exponents are used by themselves.
const LEAST_SHAPE: f64 = f64::from_bits((1023 - 1000) << 52);

/// Returns `1 / first!, 1 / (first + 1)!` and so on, up to `1 / 13!`.
fn factorials(first: u64) -> Vec<f64> {
    (first..=13).map(|n| 1.0 / (1..=n).product::<u64>() as f64).collect()
}

/// Returns 2^n by repeated doubling or halving; 0 below the smallest float.
fn power_of_two(n: i64) -> f64 {
    let factor = if n < 0 { 0.5 } else { 2.0 };
    (0..n.unsigned_abs()).fold(1.0, |product, _| product * factor)
}

/// Returns ln of a positive normal number.
pub fn ln(x: f64) -> f64 {
    let (mut f, mut k) = (x, 0);
    while f >= 2.0 * SQRT_HALF {
        f /= 2.0;
        k += 1;
    }
    while f < SQRT_HALF {
        f *= 2.0;
        k -= 1;
    }
    let d = f - 1.0;
    let s = d / (d + 2.0);
    let z = s * s;
    f64::from(k) * core::f64::consts::LN_2 + ((s * z) * polynomial(z, &LOGARITHM) + (s + s))
}

/// Returns the whole number of halvings in e^x, and the rest of the exponent.
fn reduced(x: f64) -> (i64, f64) {
    let magic = 1.5 * 2f64.powi(52);
    let n = (x * LOG2_E + magic) - magic;
    (n as i64, (x - n * LN_2_HIGH) - n * LN_2_LOW)
}

/// Returns e^x.
pub fn exp(x: f64) -> f64 {
    let (n, r) = reduced(x.clamp(-746.0, 710.0));
    let h = n.div_euclid(2);
    (polynomial(r, &factorials(0)) * power_of_two(h)) * power_of_two(n - h)
}

/// Returns e^x - 1.
pub fn expm1(x: f64) -> f64 {
    let (n, r) = reduced(x.clamp(-746.0, 710.0));
    let part = r * polynomial(r, &factorials(1));
    let h = n.div_euclid(2);
    let times = |x: f64| (x * power_of_two(h)) * power_of_two(n - h);
    if n < 0 {
        times(part) + (power_of_two(n) - 1.0)
    } else {
        times(part + (1.0 - power_of_two(-n)))
    }
}

/// Returns a uniform number strictly between 0 and 1.
fn open_uniform(word: u64) -> f64 {
    (2 * (word >> 12) + 1) as f64 / 2f64.powi(53)
}

/// Returns `-ln(1 - p)`.
fn minus_ln_1_minus(p: f64) -> f64 {
    if p == 1.0 {
        return f64::INFINITY;
    }
    if p > 0.25 {
        return -ln(1.0 - p);
    }
    let s = -p / (2.0 - p);
    let z = s * s;
    -((s * z) * polynomial(z, &LOGARITHM) + (s + s))
}

/// Returns the first coordinate of a point of the unit circle.
fn coordinate(word: u64) -> f64 {
    let s = open_uniform(word << 1);
    let x = s * polynomial(s * s, &QUARTER);
    if word >> 63 == 1 { -x } else { x }
}

/// Returns the number whose root is a factor of k!.
fn factor(k: f64) -> f64 {
    if k == 0.0 { 1.0 } else { core::f64::consts::TAU * k }
}

/// Returns `ln k! - k ln k + k - ln(factor(k)) / 2`.
fn stirling(k: f64) -> f64 {
    if k < 10.0 {
        return STIRLING[k as usize];
    }
    let i = 1.0 / k;
    i * polynomial(i * i, &[1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0])
}

/// Returns `k ln(k / mean) - (k - mean)`; `d` is `k - mean`.
fn deviance(k: f64, mean: f64, d: f64) -> f64 {
    if k == 0.0 {
        return mean;
    }
    if !(SQRT_HALF..2.0 * SQRT_HALF).contains(&(k / mean)) {
        return k * ln(k / mean) - d;
    }
    let s = d / (k + mean);
    let z = s * s;
    d * s + k * ((s * z) * polynomial(z, &LOGARITHM))
}

/// Returns the integer that a word stands for, by the probabilities of 1 to 63.
fn by_thresholds(p: &[f64], word: u64) -> u64 {
    let mut sum = 0.0;
    let mut number = 0;
    for k in (1..64).rev() {
        sum += p[k];
        // A float is converted to the nearest integer that exists: 2^64 becomes 2^64 - 1.
        let threshold = (sum * 2f64.powi(64)) as u64;
        number += u64::from(word < threshold);
    }
    number
}

/// Returns a Laplace number from a word: the highest bit is the side, and the others the distance.
pub fn laplace(word: u64, mean: f64, scale: f64) -> f64 {
    let v = word << 1;
    if word >> 63 == 0 {
        mean - scale * exponential_f64(v)
    } else {
        mean + scale * exponential_f64(u64::MAX - v)
    }
}

/// Returns a number that is a function of one word, by the name of its kind.
pub fn of_word(kind: &str, word: u64, p: &[f64]) -> f64 {
    let e = exponential_f64(word);
    let sign = if word >> 63 == 0 { -1.0 } else { 1.0 };
    let v = if word >> 63 == 0 { word << 1 } else { u64::MAX - (word << 1) };
    match kind {
        "scaled_uniform" => p[0] + (p[1] - p[0]) * ((word >> 11) as f64 / 2f64.powi(53)),
        "scaled_exponential" => p[0] * e,
        "rayleigh" => p[0] * (2.0 * e).sqrt(),
        "weibull" => exp(ln(e) / p[0]),
        "pareto" => expm1(e / p[0]),
        "power" => exp(-(e / p[0])),
        "gumbel" => p[0] - p[1] * ln(e),
        "logistic" => {
            let e = exponential_f64(v);
            p[0] + p[1] * (sign * (e + ln(2.0 - exp(-e))))
        }
        "cauchy" => {
            let s = open_uniform(word << 1);
            let sine = |s: f64| s * polynomial(s * s, &QUARTER);
            p[0] + p[1] * (sign * (sine(s) / sine(1.0 - s)))
        }
        "triangular" => {
            let u = open_uniform(word);
            let width = p[2] - p[0];
            let share = (p[1] - p[0]) / width;
            if u <= share {
                p[0] + width * (u * share).sqrt()
            } else {
                p[2] - width * ((1.0 - u) * (1.0 - share)).sqrt()
            }
        }
        _ => unreachable!("{kind}"),
    }
}

/// One element of a stream: its own blocks, and the words of draw 0.
pub struct Element<'a> {
    /// Returns the private block of a draw, as two words.
    pub block: &'a dyn Fn(u16) -> [u64; 2],
}

impl Element<'_> {
    fn private(&self, domain: u16, block: u16) -> [u64; 2] {
        (self.block)((1 << 15) + (domain << 9) + block)
    }

    /// Returns the factor of a gamma number that Marsaglia and Tsang's method makes, and the
    /// exponent of the other one.
    fn gamma_parts(&self, domain: u16, shape: f64) -> (f64, f64) {
        let (a, exponent) = if shape >= 1.0 {
            (shape, 0.0)
        } else {
            (shape + 1.0, exponential_f64(self.private(domain, 511)[0]) / shape)
        };
        let third = 1.0 / 3.0;
        let d = a - third;
        let w = third / d.sqrt();
        for attempt in 0..511 {
            let [w0, w1] = self.private(domain, attempt);
            let u = (2 * (w1 % (1 << 32)) + 1) as f64 / 2f64.powi(33);
            let x = (-2.0 * ln(open_uniform(w0))).sqrt() * coordinate((w1 >> 32 << 32) | 1 << 31);
            let g = w * x;
            let t = 1.0 + g;
            if t <= 0.0 {
                continue;
            }
            let (v, q) = ((t * t) * t, x * x);
            if u < 1.0 - 0.0331 * (q * q) {
                return (d * v, exponent);
            }
            let b = if (-0.25..=0.25).contains(&g) {
                let s = g / (g + 2.0);
                let z = s * s;
                3.0 * ((s * z) * polynomial(z, &LOGARITHM) - g * s) - (g * g) * (3.0 + g)
            } else {
                3.0 * ln(t) + (1.0 - v)
            };
            if ln(u) < 0.5 * q + d * b {
                return (d * v, exponent);
            }
        }
        (d, exponent)
    }

    /// Returns a gamma number of this shape.
    pub fn gamma(&self, shape: f64) -> f64 {
        let (g, exponent) = self.gamma_parts(GAMMA, shape);
        if shape >= 1.0 { g } else { g * exp(-exponent) }
    }

    /// Returns a chi-square number of `k` degrees of freedom.
    pub fn chi_square(&self, k: f64) -> f64 {
        2.0 * self.gamma((k / 2.0).max(f64::from_bits(1)))
    }

    /// Returns a beta number of these shapes.
    pub fn beta(&self, a: f64, b: f64) -> f64 {
        let tiny = a.max(b) < 2f64.powi(-200);
        let [a, b] = [a, b].map(|shape| if tiny { shape * 2f64.powi(100) } else { shape });
        if a <= 1.0 && b <= 1.0 {
            for attempt in 0..512 {
                let [w0, w1] = self.private(BETA_FIRST, attempt);
                let (e1, e2) = (exponential_f64(w0) / a, exponential_f64(w1) / b);
                let r = exp(-(e1 - e2).abs());
                if ln(1.0 + r) <= e1.min(e2) {
                    return if e1 <= e2 { 1.0 } else { r } / (1.0 + r);
                }
            }
            return 0.5;
        }
        let (g1, e1) = self.gamma_parts(BETA_FIRST, a);
        let (g2, e2) = self.gamma_parts(BETA_SECOND, b);
        let m = e1.min(e2);
        1.0 / (1.0 + (g2 * exp(m - e2)) / (g1 * exp(m - e1)))
    }

    /// Returns a number of Student's t distribution with `nu` degrees of freedom.
    pub fn student_t(&self, nu: f64) -> f64 {
        let nu = nu.clamp(2f64.powi(-60), 2f64.powi(60));
        let [w0, w1] = self.private(STUDENT_T, 0);
        let (n, r) = reduced(((2.0 * exponential_f64(w0)) / nu).min(1500.0));
        let m = r * polynomial(r, &factorials(1)) + (1.0 - power_of_two(-n));
        let h = n / 2;
        let i = h / 2;
        let root = ((nu * m) * power_of_two(n - 2 * h)).sqrt();
        coordinate(w1) * ((root * power_of_two(i)) * power_of_two(h - i))
    }

    /// Returns a number of Wald's distribution.
    pub fn wald(&self, mean: f64, scale: f64) -> f64 {
        let [w0, w1] = self.private(WALD, 0);
        let u = (2 * (w1 % (1 << 32)) + 1) as f64 / 2f64.powi(33);
        let x = (-2.0 * ln(open_uniform(w0))).sqrt() * coordinate((w1 >> 32 << 32) | 1 << 31);
        let mut h = ((mean / 2.0) / scale) * (x * x);
        if h < f64::MIN_POSITIVE {
            h = 0.0;
        }
        let d = (1.0 + h) + h.sqrt() * (h + 2.0).sqrt();
        if u * (1.0 + 1.0 / d) <= 1.0 { mean / d } else { mean * d }
    }

    /// Returns a number of Fisher's distribution.
    pub fn fisher_f(&self, first: f64, second: f64) -> f64 {
        let [a, b] = [first, second].map(|degrees| (degrees / 2.0).max(2f64.powi(-1000)));
        let (g1, e1) = self.gamma_parts(FISHER_FIRST, a);
        let (g2, e2) = self.gamma_parts(FISHER_SECOND, b);
        ((g1 / a) * exp(e2 - e1)) * (b / g2)
    }

    /// Returns a number of Zipf's distribution.
    pub fn zipf(&self, exponent: f64) -> u64 {
        let less = exponent - 1.0;
        if less >= 63.0 {
            return 1;
        }
        let ln_2 = core::f64::consts::LN_2;
        let rest = expm1(less * ln_2);
        let share = -expm1(-(less * (63.0 * ln_2)));
        for attempt in 0..512 {
            let [w0, w1] = self.private(ZIPF, attempt);
            let e = if less < 1.0 {
                minus_ln_1_minus(share * open_uniform(w0))
            } else {
                exponential_f64(w0)
            };
            let k = exp(e / less).floor();
            if !(1.0..2f64.powi(63)).contains(&k) {
                continue;
            }
            let log = if k > 2.5 {
                let s = 1.0 / (k + k + 1.0);
                let z = s * s;
                (s * z) * polynomial(z, &LOGARITHM) + (s + s)
            } else {
                ln(1.0 + 1.0 / k)
            };
            let t = expm1(less * log);
            if ((open_uniform(w1) * k) * t) / rest <= (1.0 + t) / (1.0 + rest) {
                return k as u64;
            }
        }
        1
    }

    /// Returns a number of the logarithmic series.
    pub fn log_series(&self, p: f64) -> u64 {
        let [w0, w1] = self.private(LOG_SERIES, 0);
        let (u, v) = (open_uniform(w0), open_uniform(w1));
        if v >= p {
            return 1;
        }
        let q = -expm1(-(minus_ln_1_minus(p) * u));
        if v <= q * q {
            return (1.0 + ln(v) / ln(q)).floor() as u64;
        }
        if v >= q { 1 } else { 2 }
    }

    /// Returns a Poisson number of this mean.
    pub fn poisson(&self, mean: f64) -> u64 {
        self.poisson_of(POISSON, mean) as u64
    }

    /// Returns a Poisson number from the blocks of a domain, as a double.
    fn poisson_of(&self, domain: u16, mean: f64) -> f64 {
        if mean < 10.0 {
            let mut p = vec![exp(-mean)];
            for k in 1..64 {
                p.push((p[k - 1] * mean) / k as f64);
            }
            return by_thresholds(&p, self.private(domain, 0)[0]) as f64;
        }
        self.ptrs(domain, mean)
    }

    /// Returns a Poisson number of a mean from 10 on.
    fn ptrs(&self, domain: u16, mean: f64) -> f64 {
        let s = mean.sqrt();
        let b = 0.931 + 2.53 * s;
        let a = -0.059 + 0.02483 * b;
        let i = 1.1239 + 1.1328 / (b - 3.4);
        let r = 0.9277 - 3.6224 / (b - 2.0);
        for attempt in 0..512 {
            let [w0, w1] = self.private(domain, attempt);
            let (u, v) = (open_uniform(w0) - 0.5, open_uniform(w1));
            let t = 0.5 - u.abs();
            let k = ((((2.0 * a) / t + b) * u + mean) + 0.43).floor();
            if k < 0.0 {
                continue;
            }
            if t >= 0.07 && v <= r {
                return k;
            }
            if t < 0.013 && v > t {
                continue;
            }
            let y = (v * i) / (a / (t * t) + b);
            let rarity = stirling(k) + deviance(k, mean, k - mean);
            if ln((y * y) * factor(k)) / 2.0 <= -rarity {
                return k;
            }
        }
        mean.floor()
    }

    /// Returns a negative binomial number: failures before `n` successes of probability `p`.
    pub fn negative_binomial(&self, n: f64, p: f64) -> u64 {
        let (g, exponent) = self.gamma_parts(NEGATIVE_BINOMIAL_MEAN, n);
        let gamma = if n >= 1.0 { g } else { g * exp(-exponent) };
        let mean = (gamma * ((1.0 - p) / p)).min(2f64.powi(63));
        if mean >= 10.0 {
            return self.ptrs(NEGATIVE_BINOMIAL, mean) as u64;
        }
        let mut u = open_uniform(self.private(NEGATIVE_BINOMIAL, 0)[0]);
        let (mut t, mut k) = (exp(-mean), 0.0);
        while u >= t && k < 63.0 {
            u -= t;
            t = (t * mean) / (k + 1.0);
            k += 1.0;
        }
        k as u64
    }

    /// Returns half of a noncentral sum of squares in parts: the factor and the exponent of its
    /// central part, and the rest.
    fn noncentral_halves(&self, domains: [u16; 3], degrees: f64, around: f64) -> (f64, f64, f64) {
        if degrees >= 1.0 {
            let (g, e) = self.gamma_parts(domains[0], ((degrees - 1.0) / 2.0).max(LEAST_SHAPE));
            let [w0, w1] = self.private(domains[1], 0);
            let x = around.sqrt() + (2.0 * exponential_f64(w0)).sqrt() * coordinate(w1);
            return (g, e, (x * x) / 2.0);
        }
        let (g, e) = self.gamma_parts(domains[0], (degrees / 2.0).max(LEAST_SHAPE));
        let pairs = self.poisson_of(domains[1], around / 2.0);
        let rest = if pairs == 0.0 { 0.0 } else { self.gamma_parts(domains[2], pairs).0 };
        (g, e, rest)
    }

    /// Returns a noncentral chi-square number.
    pub fn noncentral_chi_square(&self, k: f64, noncentrality: f64) -> f64 {
        let (g, e, rest) = self.noncentral_halves(NONCENTRAL, k, noncentrality);
        2.0 * (g * exp(-e) + rest)
    }

    /// Returns a noncentral F number.
    pub fn noncentral_f(&self, first: f64, second: f64, noncentrality: f64) -> f64 {
        let [a, b] = [first, second].map(|degrees| (degrees / 2.0).max(LEAST_SHAPE));
        let (g1, e1, rest) = self.noncentral_halves(NONCENTRAL_F, first, noncentrality);
        let (g2, e2) = self.gamma_parts(NONCENTRAL_F_BELOW, b);
        let rest = if rest == 0.0 { 0.0 } else { rest * exp(e2) };
        ((g1 * exp(e2 - e1) + rest) / a) * (b / g2)
    }

    /// Returns the logarithm of a gamma number.
    pub fn log_gamma(&self, shape: f64) -> f64 {
        let (g, e) = self.gamma_parts(LOG_GAMMA, shape.max(LEAST_SHAPE));
        ln(g) - e
    }

    /// Returns a number of Maxwell's distribution.
    pub fn maxwell(&self, scale: f64) -> f64 {
        scale * (2.0 * self.gamma_parts(MAXWELL, 1.5).0).sqrt()
    }

    /// Returns a hypergeometric number: good items in a sample.
    pub fn hypergeometric(&self, good: u64, bad: u64, sample: u64) -> u64 {
        let n = good + bad;
        let (few, drawn) = (good.min(bad), sample.min(n - sample));
        let k = self.hypergeometric_of_halves(n as f64, few as f64, drawn as f64);
        let among = if good > bad { drawn - k } else { k };
        if sample > n - sample { good - among } else { among }
    }

    /// Returns the number for a population `n`, of which at most half are good, `g`, and at most
    /// half are drawn, `m`.
    fn hypergeometric_of_halves(&self, n: f64, g: f64, m: f64) -> u64 {
        if g == 0.0 || m == 0.0 {
            return 0;
        }
        let (p, q, b) = (m / n, (n - m) / n, n - g);
        let mean = g * p;
        let share = g / n;
        let others = |k: f64| (b - m) + k;
        if mean < 10.0 {
            let rarity = (mean + deviance(g, g * q, mean))
                + (deviance(m, b * p, mean) + deviance(b - m, b * q, -mean));
            let small = (stirling(b - m) - stirling(b)) + (stirling(n) - stirling(n - m));
            let factors = (factor(b - m) / factor(b)) * (factor(n) / factor(n - m));
            let mut chances = vec![exp(-(rarity + small)) / factors.sqrt()];
            for i in 1..64 {
                let k = f64::from(i - 1);
                let above = (g - k) * (m - k);
                chances.push((chances[i as usize - 1] * above) / ((k + 1.0) * (others(k) + 1.0)));
            }
            return by_thresholds(&chances, self.private(HYPERGEOMETRIC, 0)[0]);
        }
        let variance = ((m * share) * (1.0 - share)) * ((n - m) / (n - 1.0));
        let h = 1.7155277699214135 * (variance + 0.5).sqrt() + 0.8989161620588988;
        let middle = ((m + 1.0) * ((g + 1.0) / (n + 2.0))).floor();
        let rarity = |k: f64| {
            let d = k - mean;
            ((stirling(k) + stirling(g - k)) + (stirling(m - k) + stirling(others(k))))
                + ((deviance(k, mean, d) + deviance(g - k, g * q, -d))
                    + (deviance(m - k, b * p, -d) + deviance(others(k), b * q, d)))
        };
        let factors = |k: f64| (factor(k) * factor(g - k)) * (factor(m - k) * factor(others(k)));
        let least = rarity(middle) + ln(factors(middle)) / 2.0;
        for attempt in 0..512 {
            let [w0, w1] = self.private(HYPERGEOMETRIC, attempt);
            let (u, v) = (open_uniform(w0), open_uniform(w1));
            let k = ((mean + 0.5) + (h * (v - 0.5)) / u).floor();
            if k < 0.0 || k > g || k > m {
                continue;
            }
            let square = u * u;
            if ln((square * square) * factors(k)) / 2.0 <= least - rarity(k) {
                return k as u64;
            }
        }
        middle as u64
    }

    /// Returns a binomial number: successes among `n` trials of probability `p`.
    pub fn binomial(&self, n: u64, p: f64) -> u64 {
        if p > 0.5 {
            return n - self.binomial(n, 1.0 - p);
        }
        let (m, q) = (n as f64, 1.0 - p);
        let w = m * p;
        if w < 10.0 {
            let mut probabilities = vec![exp(-(m * minus_ln_1_minus(p)))];
            for k in 1..64 {
                let before = (k - 1) as f64;
                let left = (m - before) * (p / q);
                probabilities.push((probabilities[k - 1] * left) / k as f64);
            }
            return by_thresholds(&probabilities, self.private(BINOMIAL, 0)[0]);
        }
        let s = (w * q).sqrt();
        let b = 1.15 + 2.53 * s;
        let a = (-0.0873 + 0.0248 * b) + 0.01 * p;
        let r = 0.92 - 4.2 / b;
        let i = (2.83 + 5.1 / b) * s;
        let x = m * q;
        let middle = ((m + 1.0) * p).floor();
        let rarity = |k: f64| {
            (stirling(k) + stirling(m - k)) + (deviance(k, w, k - w) + deviance(m - k, x, w - k))
        };
        let least = rarity(middle) + ln(factor(middle) * factor(m - middle)) / 2.0;
        for attempt in 0..512 {
            let [w0, w1] = self.private(BINOMIAL, attempt);
            let (u, v) = (open_uniform(w0) - 0.5, open_uniform(w1));
            let t = 0.5 - u.abs();
            let k = ((((2.0 * a) / t + b) * u + w) + 0.5).floor();
            if k < 0.0 || k > m {
                continue;
            }
            let y = (v * i) / (a / (t * t) + b);
            let log = ln((y * y) * (factor(k) * factor(m - k))) / 2.0;
            if (t >= 0.07 && v <= r) || log <= least - rarity(k) {
                return n.min(k as u64);
            }
        }
        n.min(middle as u64)
    }
}

/// Returns a lognormal number of a normal number.
pub fn lognormal(normal: f64, m: f64, s: f64) -> f64 {
    exp(m + s * normal)
}

/// Returns a geometric number of an exponential number.
pub fn geometric(exponential: f64, p: f64) -> u64 {
    // The conversion ends at 2^64 - 1, as the definition does.
    ((exponential / minus_ln_1_minus(p)).floor() as u64).saturating_add(1)
}
