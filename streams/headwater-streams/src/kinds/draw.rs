//! One draw of any kind: the way from a kind that was made to the functions of its type.
//!
//! A kind with parameters is held in a wrapper that says which types its elements have. So the type
//! is matched once a call, and the loop over the elements is the one that typed callers reach.

use super::place::{Element, Elements, Out};
use super::value::{List, Values};
use super::{Dtype, Kind, Value};
use crate::distributions::{
    Alias, Categorical, Distribution, Gamma, Multinomial, MultivariateNormal, VectorDistribution,
};
use crate::{Error, Stream};
use core::num::NonZero;

/// Draws elements of a kind, made of these values, in the type of `out`.
///
/// Nothing is allocated, unless weights or a covariance are made into a table. A caller that draws
/// several times from the same values makes the kind once instead, by [`Kind::make`].
///
/// ```
/// use headwater_streams::Key;
/// use headwater_streams::kinds::{Elements, Kind, Out, Value, draw};
///
/// let stream = Key::from_seed(42).stream(0)?;
/// let kind = Kind::by_name("gamma").expect("the table has gamma numbers");
/// let mut numbers = [0.0_f32; 8];
/// draw(kind, &[Value::Real(2.5)], &stream, Elements::From(0), Out::new(&mut numbers))?;
/// # Ok::<(), headwater_streams::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`Kind::with`] and of [`Made::draw`](super::Made::draw). Nothing is written then.
// Inlined down to the match over the kinds. Otherwise a caller that has just written the arguments
// to the stack would wait until they can be read from there in other widths.
#[inline]
pub fn draw(
    kind: Kind,
    values: &[Value<'_>],
    stream: &Stream,
    elements: Elements<'_>,
    out: Out<'_>,
) -> Result<(), Error> {
    kind.has(out.dtype())?;
    kind.has_not_more(values)?;
    kind.write(Values { kind, values }, &mut Job { kind, stream, elements, out })
}

/// A call's stream, the elements to draw of it, and the place for them.
pub(super) struct Job<'a> {
    pub(super) kind: Kind,
    pub(super) stream: &'a Stream,
    pub(super) elements: Elements<'a>,
    pub(super) out: Out<'a>,
}

impl Job<'_> {
    pub(super) fn wrong_type(&self) -> Error {
        Error::ElementType { kind: self.kind, dtype: self.out.dtype() }
    }

    fn numbers<T: Element>(&mut self, numbers: &impl Distribution<T>) -> Result<(), Error> {
        let wrong = self.wrong_type();
        let out = self.out.elements::<T>().ok_or(wrong)?;
        match self.elements {
            Elements::From(start) => self.stream.fill_distribution(numbers, start, out),
            #[cfg(feature = "std")]
            Elements::Shared { start, threads } => {
                self.stream.par(threads).fill_distribution(numbers, start, out)
            }
            Elements::At(indices) => self.stream.distribution_at(numbers, indices, out),
        }
    }

    fn vectors<D: VectorDistribution>(&mut self, vectors: &D) -> Result<(), Error>
    where
        D::Value: Element,
    {
        let wrong = self.wrong_type();
        let out = self.out.elements::<D::Value>().ok_or(wrong)?;
        match self.elements {
            Elements::From(start) => self.stream.fill_vectors(vectors, start, out),
            #[cfg(feature = "std")]
            Elements::Shared { start, threads } => {
                self.stream.par(threads).fill_vectors(vectors, start, out)
            }
            Elements::At(indices) => self.stream.vectors_at(vectors, indices, out),
        }
    }
}

/// A kind that was made of its values.
pub(super) trait Held: Sync {
    /// Writes the elements of a job, whose type is one of the kind's.
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error>;

    /// Returns the components of an element, if it is a vector.
    fn dimension(&self) -> Option<NonZero<usize>> {
        None
    }

    /// Returns an error if numbers may be too large for the type.
    fn fits(&self, _dtype: Dtype) -> Result<(), Error> {
        Ok(())
    }
}

/// Makes a kind and writes its elements.
///
/// The kind stays where it is made, because a large one, such as a table of Poisson's, takes as
/// long to move as a few elements take. Not inlined: the frame of a large kind would be that of all
/// kinds, and cost the small ones a few nanoseconds a call.
#[inline(never)]
pub(super) fn once<'v, 'a, H: Held>(
    values: Values<'v, 'a>,
    make: impl FnOnce(Values<'v, 'a>) -> Result<H, Error>,
    job: &mut Job<'_>,
) -> Result<(), Error> {
    let held = make(values)?;
    held.fits(job.out.dtype())?;
    held.write(job)
}

/// Makes a kind and lends it. Not inlined, as [`once`] is not.
#[inline(never)]
pub(super) fn lent<'v, 'a, H: Held>(
    values: Values<'v, 'a>,
    make: impl FnOnce(Values<'v, 'a>) -> Result<H, Error>,
    then: &mut dyn FnMut(&dyn Held),
) -> Result<(), Error> {
    then(&make(values)?);
    Ok(())
}

/// Real numbers of either precision.
pub(super) struct Reals<D>(pub(super) D);

impl<D: Distribution<f64> + Distribution<f32>> Held for Reals<D> {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        match job.out.dtype() {
            Dtype::F32 => job.numbers::<f32>(&self.0),
            _ => job.numbers::<f64>(&self.0),
        }
    }
}

/// Gamma numbers times a scale, each rounded once in the type of the elements.
pub(super) struct Scaled {
    pub(super) numbers: Reals<Gamma>,
    pub(super) scale: f64,
}

impl Held for Scaled {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        self.numbers.write(job)?;
        if let Some(out) = job.out.elements::<f32>() {
            out.iter_mut().for_each(|number| *number *= self.scale as f32);
        } else if let Some(out) = job.out.elements::<f64>() {
            out.iter_mut().for_each(|number| *number *= self.scale);
        }
        Ok(())
    }
}

/// Counts, as `u64` or as `i64`.
pub(super) struct Counts<D> {
    pub(super) numbers: D,
    /// An error that names the parameter to blame, unless `i64` holds all counts.
    pub(super) signed: Result<(), Error>,
}

/// The trials of which no count exceeds the largest `i64`.
pub(super) const TRIALS_NEED: &str =
    "at most 2^63 - 1 for counts of int64, while uint64 holds more";
/// The largest mean of Poisson's counts in `i64`: ten standard deviations below 2^63, as in NumPy.
pub(crate) const POISSON_MOST: f64 = 9.223_372_006_484_771e18;
pub(super) const POISSON_NEED: &str =
    "at most 9.223372006484771e18 for counts of int64, while uint64 holds more";

/// Returns the error that blames this parameter unless `fits` is true.
pub(super) fn unless(fits: bool, name: &'static str, need: &'static str) -> Result<(), Error> {
    if fits { Ok(()) } else { Err(Error::Parameter { name, need }) }
}

impl<D: Distribution<u64>> Held for Counts<D> {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        job.numbers::<u64>(&self.numbers)
    }

    fn fits(&self, dtype: Dtype) -> Result<(), Error> {
        if dtype == Dtype::I64 { self.signed.clone() } else { Ok(()) }
    }
}

/// Counts that have no largest one: those of `i64` end at its largest number.
pub(super) struct Endless<D>(pub(super) D);

impl<D: Distribution<u64>> Held for Endless<D> {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        job.numbers::<u64>(&self.0)?;
        if job.out.dtype() == Dtype::I64
            && let Some(out) = job.out.elements::<u64>()
        {
            out.iter_mut().for_each(|count| *count = (*count).min(i64::MAX as u64));
        }
        Ok(())
    }
}

/// Outcomes of a weighted choice, which end at 2^32.
pub(super) struct Outcomes<'a>(pub(super) List<'a, Alias>);

impl Held for Outcomes<'_> {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        let numbers = Categorical::from_table(self.0.as_ref())?;
        match job.out.dtype() {
            Dtype::U32 => job.numbers::<u32>(&numbers),
            _ => job.numbers::<u64>(&numbers),
        }
    }
}

/// Vectors whose numbers fit each of their types.
pub(super) struct Vectors<D>(pub(super) D);

impl<D: VectorDistribution> Held for Vectors<D>
where
    D::Value: Element,
{
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        job.vectors(&self.0)
    }

    fn dimension(&self) -> Option<NonZero<usize>> {
        Some(self.0.dimension())
    }
}

/// Normal vectors.
pub(super) struct Normals<'a> {
    mean: &'a [f64],
    factor: List<'a, f64>,
}

impl<'a> Normals<'a> {
    /// Returns the vectors. Checked here and not only in a draw, so that the fault of a parameter
    /// is found before that of any other argument, and under the name that the table has.
    pub(super) fn new(mean: &'a [f64], factor: List<'a, f64>) -> Result<Normals<'a>, Error> {
        match MultivariateNormal::new(mean, factor.as_ref()) {
            Ok(_) => Ok(Normals { mean, factor }),
            Err(Error::Parameter { name: "factor", need }) => {
                Err(Error::Parameter { name: "covariance", need })
            }
            Err(error) => Err(error),
        }
    }
}

impl Held for Normals<'_> {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        job.vectors(&MultivariateNormal::new(self.mean, self.factor.as_ref())?)
    }

    fn dimension(&self) -> Option<NonZero<usize>> {
        NonZero::new(self.mean.len())
    }
}

/// Vectors of counts.
pub(super) struct Trials<'a> {
    pub(super) trials: u64,
    pub(super) shares: List<'a, f64>,
}

impl Held for Trials<'_> {
    fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
        job.vectors(&Multinomial::from_table(self.trials, self.shares.as_ref())?)
    }

    fn dimension(&self) -> Option<NonZero<usize>> {
        NonZero::new(self.shares.as_ref().len())
    }

    fn fits(&self, dtype: Dtype) -> Result<(), Error> {
        unless(dtype != Dtype::I64 || self.trials <= i64::MAX as u64, "trials", TRIALS_NEED)
    }
}
