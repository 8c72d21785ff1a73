//! Distributions with parameters, for both doors.
//!
//! Java holds the parameters as longs: the bits of doubles, whole numbers, or a table that
//! [`prepare`] has built. Nothing is allocated here.

use crate::calls::REFUSED;
use crate::numbers::Place;
use core::ffi::c_void;
use core::slice::{from_raw_parts, from_raw_parts_mut};
use headwater_streams::distributions::{
    Alias, Beta, Binomial, Categorical, ChiSquare, Dirichlet, Distribution, Gamma, Geometric,
    LogNormal, Multinomial, MultivariateNormal, Poisson, Sobol, StudentT, TruncatedNormal,
    VectorDistribution, VonMises,
};
use headwater_streams::{Error, Stream};

/// The elements that a call asks for.
#[derive(Clone, Copy)]
pub(crate) enum Elements<'a> {
    From(u64),
    At(&'a [u64]),
}

/// An array of Java for results: `n` numbers, of single precision if `single` is set.
#[derive(Clone, Copy)]
pub(crate) struct Out {
    pub(crate) start: *mut c_void,
    pub(crate) n: usize,
    pub(crate) single: bool,
}

/// A request that the parameters, the kind or the array do not allow.
struct Wrong;

impl From<Error> for Wrong {
    fn from(_: Error) -> Wrong {
        Wrong
    }
}

/// Writes elements of the kind, whose number is that of Java's enum `Distribution.Kind`.
///
/// # Safety
///
/// `out` is aligned and valid for writes of its numbers.
pub(crate) unsafe fn draw(
    kind: i32,
    place: Place,
    elements: Elements<'_>,
    parameters: &[u64],
    out: Out,
) -> i32 {
    let Some(stream) = place.stream() else { return REFUSED };
    // SAFETY: the caller's promise.
    match unsafe { drawn(kind, &Job { stream: &stream, elements, out }, parameters) } {
        Ok(()) => 0,
        Err(Wrong) => REFUSED,
    }
}

/// # Safety
///
/// The promise of [`draw`].
unsafe fn drawn(kind: i32, job: &Job<'_>, parameters: &[u64]) -> Result<(), Wrong> {
    let p = Parameters(parameters);
    // SAFETY: the caller's promise, for the type of each kind.
    unsafe {
        match kind {
            0 => job.reals(&Gamma::new(p.real(0)?)?),
            1 => job.reals(&ChiSquare::new(p.real(0)?)?),
            2 => job.reals(&Beta::new(p.real(0)?, p.real(1)?)?),
            3 => job.reals(&StudentT::new(p.real(0)?)?),
            4 => job.reals(&LogNormal::new(p.real(0)?, p.real(1)?)?),
            5 => job.reals(&p.truncated()?),
            6 => job.reals(&VonMises::new(p.real(0)?, p.real(1)?)?),
            7 => job.counts(&Geometric::new(p.real(0)?)?),
            8 => job.counts(&Poisson::new(p.real(0)?)?),
            9 => job.counts(&Binomial::new(p.word(0)?, p.real(1)?)?),
            10 => job.counts(&Categorical::from_table(p.table())?),
            11 => job.rows(&Dirichlet::new(p.reals())?),
            12 => {
                let (mean, factor) = p.mean_and_matrix()?;
                job.rows(&MultivariateNormal::new(mean, factor)?)
            }
            13 => job.rows(&p.sobol()?),
            14 => {
                let table = p.reals().get(1..).ok_or(Wrong)?;
                job.count_rows(&Multinomial::from_table(p.word(0)?, table)?)
            }
            15 => job.complex(),
            _ => Err(Wrong),
        }
    }
}

/// Checks parameters, and turns them into those that [`draw`] takes: weights into a table, and a
/// covariance into its factor. Other parameters are copied.
pub(crate) fn prepare(kind: i32, given: &[u64], out: &mut [u64]) -> i32 {
    match prepared(kind, given, out) {
        Ok(()) => 0,
        Err(Wrong) => REFUSED,
    }
}

fn prepared(kind: i32, given: &[u64], out: &mut [u64]) -> Result<(), Wrong> {
    let p = Parameters(given);
    match kind {
        10 => {
            // SAFETY: a bucket is two words, and any words are one. An odd word is left out.
            let table =
                unsafe { from_raw_parts_mut(out.as_mut_ptr().cast::<Alias>(), out.len() / 2) };
            Categorical::build(p.reals(), table)?;
            return Ok(());
        }
        12 => {
            let (mean, covariance) = p.mean_and_matrix()?;
            let (to, factor) = reals_mut(out).split_at_mut_checked(mean.len()).ok_or(Wrong)?;
            MultivariateNormal::cholesky(covariance, mean.len(), factor)?;
            // The split made them one length, which the compiler forgets: a copy could panic.
            to.iter_mut().zip(mean).for_each(|(to, &from)| *to = from);
            MultivariateNormal::new(mean, factor)?;
            return Ok(());
        }
        14 => {
            let (trials, table) = out.split_first_mut().ok_or(Wrong)?;
            *trials = p.word(0)?;
            let weights = p.reals().get(1..).ok_or(Wrong)?;
            Multinomial::build(*trials, weights, reals_mut(table))?;
            return Ok(());
        }
        0 => drop(Gamma::new(p.real(0)?)?),
        1 => drop(ChiSquare::new(p.real(0)?)?),
        2 => drop(Beta::new(p.real(0)?, p.real(1)?)?),
        3 => drop(StudentT::new(p.real(0)?)?),
        4 => drop(LogNormal::new(p.real(0)?, p.real(1)?)?),
        5 => drop(p.truncated()?),
        6 => drop(VonMises::new(p.real(0)?, p.real(1)?)?),
        7 => drop(Geometric::new(p.real(0)?)?),
        8 => drop(Poisson::new(p.real(0)?)?),
        9 => drop(Binomial::new(p.word(0)?, p.real(1)?)?),
        11 => drop(Dirichlet::new(p.reals())?),
        13 => drop(p.sobol()?),
        15 => {}
        _ => return Err(Wrong),
    }
    if out.len() != given.len() {
        return Err(Wrong);
    }
    out.iter_mut().zip(given).for_each(|(to, &from)| *to = from);
    Ok(())
}

/// Parameters as Java holds them.
struct Parameters<'a>(&'a [u64]);

impl<'a> Parameters<'a> {
    fn word(&self, place: usize) -> Result<u64, Wrong> {
        self.0.get(place).copied().ok_or(Wrong)
    }

    fn real(&self, place: usize) -> Result<f64, Wrong> {
        self.word(place).map(f64::from_bits)
    }

    fn reals(&self) -> &'a [f64] {
        // SAFETY: a double has the size and the alignment of a word here, and any bits are one.
        unsafe { from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }

    /// Returns a table of buckets.
    fn table(&self) -> &'a [Alias] {
        // SAFETY: a bucket is two words, and any words are one. An odd word is left out.
        unsafe { from_raw_parts(self.0.as_ptr().cast(), self.0.len() / 2) }
    }

    /// Returns d numbers, and a matrix of d rows.
    fn mean_and_matrix(&self) -> Result<(&'a [f64], &'a [f64]), Wrong> {
        let all = self.reals();
        let parts = (0..).map(|d: usize| (d, d * d + d)).find(|&(_, len)| len >= all.len());
        match parts {
            Some((d, len)) if len == all.len() => all.split_at_checked(d).ok_or(Wrong),
            _ => Err(Wrong),
        }
    }

    /// Makes a truncated normal distribution from four parameters: mean, deviation, lower and upper
    /// end.
    fn truncated(&self) -> Result<TruncatedNormal, Wrong> {
        let (mean, deviation) = (self.real(0)?, self.real(1)?);
        Ok(TruncatedNormal::new(mean, deviation, self.real(2)?, self.real(3)?)?)
    }

    /// Makes a Sobol sequence from two parameters: the dimension, and 1 if the sequence is
    /// scrambled.
    fn sobol(&self) -> Result<Sobol, Wrong> {
        let dimension = self.word(0)? as usize;
        Ok(if self.word(1)? == 1 { Sobol::new(dimension)? } else { Sobol::plain(dimension)? })
    }
}

fn reals_mut(words: &mut [u64]) -> &mut [f64] {
    // SAFETY: as in `Parameters::reals`.
    unsafe { from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

/// One call: a stream, elements of it, and a place for them.
struct Job<'a> {
    stream: &'a Stream,
    elements: Elements<'a>,
    out: Out,
}

/// Functions for each type of numbers.
///
/// # Safety
///
/// All of them: the place is aligned and valid for writes of its numbers, which are of single
/// precision as it says, and otherwise of 64 bits. Nothing else uses it meanwhile.
impl Job<'_> {
    unsafe fn numbers<T>(&self, numbers: &impl Distribution<T>) -> Result<(), Wrong> {
        // SAFETY: the caller's promise.
        let out = unsafe { from_raw_parts_mut(self.out.start.cast::<T>(), self.out.n) };
        let done = match self.elements {
            Elements::From(start) => self.stream.fill_distribution(numbers, start, out),
            Elements::At(indices) => self.stream.distribution_at(numbers, indices, out),
        };
        done.map_err(Wrong::from)
    }

    unsafe fn reals<D: Distribution<f64> + Distribution<f32>>(
        &self,
        numbers: &D,
    ) -> Result<(), Wrong> {
        // SAFETY: the caller's promise.
        unsafe {
            match self.out.single {
                true => self.numbers::<f32>(numbers),
                false => self.numbers::<f64>(numbers),
            }
        }
    }

    unsafe fn counts(&self, numbers: &impl Distribution<u64>) -> Result<(), Wrong> {
        // SAFETY: the caller's promise.
        unsafe { self.double_width()?.numbers::<u64>(numbers) }
    }

    unsafe fn rows<D: VectorDistribution<Value = f64>>(&self, rows: &D) -> Result<(), Wrong> {
        // SAFETY: the caller's promise.
        unsafe { self.vectors(rows) }
    }

    unsafe fn count_rows<D: VectorDistribution<Value = u64>>(&self, rows: &D) -> Result<(), Wrong> {
        // SAFETY: the caller's promise.
        unsafe { self.vectors(rows) }
    }

    unsafe fn vectors<D: VectorDistribution>(&self, rows: &D) -> Result<(), Wrong> {
        let Out { start, n, .. } = self.double_width()?.out;
        // SAFETY: the caller's promise; components have 64 bits.
        let out = unsafe { from_raw_parts_mut(start.cast::<D::Value>(), n) };
        let done = match self.elements {
            Elements::From(start) => self.stream.fill_vectors(rows, start, out),
            Elements::At(indices) => self.stream.vectors_at(rows, indices, out),
        };
        done.map_err(Wrong::from)
    }

    /// Writes complex normal numbers, the real part first.
    unsafe fn complex(&self) -> Result<(), Wrong> {
        let Out { start, n, single } = self.out;
        if n % 2 == 1 {
            return Err(Wrong);
        }
        // SAFETY: the caller's promise; a complex number is two numbers.
        unsafe {
            let done = match (self.elements, single) {
                (Elements::From(e), false) => {
                    self.stream.fill_complex_normal_f64(e, from_raw_parts_mut(start.cast(), n / 2))
                }
                (Elements::From(e), true) => {
                    self.stream.fill_complex_normal_f32(e, from_raw_parts_mut(start.cast(), n / 2))
                }
                (Elements::At(list), false) => {
                    self.stream.complex_normal_f64_at(list, from_raw_parts_mut(start.cast(), n / 2))
                }
                (Elements::At(list), true) => {
                    self.stream.complex_normal_f32_at(list, from_raw_parts_mut(start.cast(), n / 2))
                }
            };
            done.map_err(Wrong::from)
        }
    }

    /// Returns the job unless its numbers are of single precision.
    fn double_width(&self) -> Result<&Self, Wrong> {
        if self.out.single { Err(Wrong) } else { Ok(self) }
    }
}
