//! Elements with parameters of their own: loops over arrays of parameters.
//!
//! A program that asks for a gamma number of each of a million shapes could make the distribution a
//! million times. But a distribution is made of constants and tables that take longer than its
//! numbers, and one number leaves no work for vector code. So the kinds here make a chunk of
//! numbers whose methods lie in arrays, or whose constants are computed beside each number, in
//! vector code. The values are those of the distribution made for each element, to the bit.

mod counts;
mod fits;
mod gammas;
mod large;
mod lists;
mod words;

use super::private::{CHUNK, Domain, Source, accepted, map};
use super::student_t::Polars;
use super::{
    Beta, Binomial, ChiSquare, FisherF, Gamma, Geometric, Hypergeometric, LogGamma, LogNormal,
    LogSeries, NegativeBinomial, NoncentralChiSquare, NoncentralF, Pareto, Poisson, Power,
    ScaledUniform, StudentT, Triangular, VonMises, Wald, Weibull, Zipf,
};
use crate::kinds::{Dtype, Elements, Kind, Out};
use crate::numbers::path::Path;
use crate::{Error, Stream};
use counts::{Binomials, GoodItems, Means, Populations, Successes};
use fits::{Fits, all_fit};
use gammas::Room;
use lists::{Each, Lists};

/// Writes elements of a kind, of which the one at place i has number i of each list as its
/// parameters; counts are integers as floats. The lists are as long as `out`. Returns `None` if the
/// kind has no such loop, or not of this type, or if a parameter is outside of its range: then each
/// element is a draw, and the draw of the parameter says what is wrong.
///
/// # Errors
///
/// [`Error::Lengths`] unless there is an element for each place, [`Error::RangeTooLong`] for one
/// that the stream lacks; some numbers may be written then.
pub fn draw_each(
    kind: Kind,
    lists: &[&[f64]],
    stream: &Stream,
    elements: Elements<'_>,
    out: &mut Out<'_>,
) -> Option<Result<(), Error>> {
    if lists.iter().any(|list| list.len() != out.len()) {
        return None;
    }
    let run = Run { stream, elements };
    if out.dtype() == Dtype::F64 {
        return reals(kind, lists, &run, out.elements()?);
    }
    let is_signed = out.dtype() == Dtype::I64;
    let counts = out.elements::<u64>()?;
    let done = integers(kind, lists, &run, counts);
    if is_signed && matches!(done, Some(Ok(()))) {
        // As in draws: counts without a largest one end at the largest `i64`.
        counts.iter_mut().for_each(|count| *count = (*count).min(i64::MAX as u64));
    }
    done
}

/// The elements of one call.
struct Run<'a> {
    stream: &'a Stream,
    elements: Elements<'a>,
}

/// A chunk of them.
struct Part<'a> {
    stream: &'a Stream,
    elements: Elements<'a>,
    source: Source<'a, Stream>,
}

impl<'a> Run<'a> {
    /// Returns an error unless there are so many elements.
    fn check(&self, many: usize) -> Result<(), Error> {
        match self.elements {
            Elements::At(list) if list.len() != many => {
                Err(Error::Lengths { indices: list.len(), out: many })
            }
            Elements::At(list) => list.iter().try_for_each(|&index| crate::stream::check(index, 1)),
            Elements::From(start) | Elements::Shared { start, .. } => {
                crate::stream::check(start, many)
            }
        }
    }

    /// Returns `many` of the elements, from place `first` on.
    fn part(&self, first: usize, many: usize) -> Part<'a> {
        let (path, stream) = (Path::best(), self.stream);
        match self.elements {
            Elements::At(list) => {
                let list = list.get(first..first + many).unwrap_or_default();
                let source = Source::of_list(path, stream, list);
                Part { stream, elements: Elements::At(list), source }
            }
            Elements::From(start) | Elements::Shared { start, .. } => {
                let start = start + first as u64;
                let source = Source::of_run(path, stream, start);
                Part { stream, elements: Elements::From(start), source }
            }
        }
    }

    /// Calls a function for each chunk of elements, if all parameters fit.
    fn chunks<D: Fits<N>, T, const N: usize>(
        &self,
        lists: &[&[f64]; N],
        out: &mut [T],
        mut each: impl FnMut(&Part<'_>, [&[f64]; N], &mut [T]) -> Result<(), Error>,
    ) -> Option<Result<(), Error>> {
        if !all_fit::<D, N>(lists) {
            return None;
        }
        if let Err(error) = self.check(out.len()) {
            return Some(Err(error));
        }
        for (out, first) in out.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
            let lists = lists.map(|list| &list[first..first + out.len()]);
            let part = self.part(first, out.len());
            if let Err(error) = each(&part, lists, out) {
                return Some(Err(error));
            }
        }
        Some(Ok(()))
    }

    /// Calls a function whose draws cannot fail for each chunk.
    fn numbers<D: Fits<N>, const N: usize>(
        &self,
        lists: &[&[f64]; N],
        out: &mut [f64],
        mut each: impl FnMut(&Source<'_, Stream>, [&[f64]; N], &mut [f64]),
    ) -> Option<Result<(), Error>> {
        self.chunks::<D, f64, N>(lists, out, |part, lists, out| {
            each(&part.source, lists, out);
            Ok(())
        })
    }

    /// Calls a function that makes counts as floats for each chunk.
    fn counts<D: Fits<N>, const N: usize>(
        &self,
        lists: &[&[f64]; N],
        out: &mut [u64],
        mut each: impl FnMut(&Source<'_, Stream>, [&[f64]; N], &mut [f64]),
    ) -> Option<Result<(), Error>> {
        self.chunks::<D, u64, N>(lists, out, |part, lists, out| {
            let mut made = [0.0; CHUNK];
            let made = &mut made[..out.len().min(CHUNK)];
            each(&part.source, lists, made);
            part.source.path.run(super::counts::ToCounts { made, out });
            Ok(())
        })
    }
}

fn reals(
    kind: Kind,
    lists: &[&[f64]],
    run: &Run<'_>,
    out: &mut [f64],
) -> Option<Result<(), Error>> {
    let room = &mut Room::default();
    match (kind, lists) {
        (Kind::Gamma, &[shapes]) => run.numbers::<Gamma, 1>(&[shapes], out, |source, [a], out| {
            gammas::gamma(room, source, Domain::Gamma, a, out);
        }),
        (Kind::ScaledGamma, &[shapes, scales]) => run.numbers::<fits::ScaledGamma, 2>(
            &[shapes, scales],
            out,
            |source, [a, scales], out| {
                gammas::gamma(room, source, Domain::Gamma, a, out);
                out.iter_mut().zip(scales).for_each(|(number, scale)| *number *= scale);
            },
        ),
        (Kind::ChiSquare, &[k]) => run.numbers::<ChiSquare, 1>(&[k], out, |source, [k], out| {
            gammas::chi_square(room, source, k, out);
        }),
        (Kind::LogGamma, &[a]) => run.numbers::<LogGamma, 1>(&[a], out, |source, [a], out| {
            gammas::log_gamma(room, source, a, out);
        }),
        (Kind::Beta, &[a, b]) => run.numbers::<Beta, 2>(&[a, b], out, |source, lists, out| {
            gammas::beta(room, source, lists, out);
        }),
        (Kind::FisherF, &[a, b]) => {
            run.numbers::<FisherF, 2>(&[a, b], out, |source, lists, out| {
                gammas::fisher(room, source, lists, out);
            })
        }
        (Kind::NoncentralChiSquare, &[a, b]) => {
            run.numbers::<NoncentralChiSquare, 2>(&[a, b], out, |source, lists, out| {
                gammas::noncentral_chi_square(room, source, lists, out);
            })
        }
        (Kind::NoncentralF, &[a, b, c]) => {
            run.numbers::<NoncentralF, 3>(&[a, b, c], out, |source, lists, out| {
                gammas::noncentral_f(room, source, lists, out);
            })
        }
        (Kind::StudentT, &[nu]) => run.numbers::<StudentT, 1>(&[nu], out, |source, [nu], out| {
            map(source, Domain::StudentT, 0, Polars { degrees: nu }, out);
        }),
        (Kind::Wald, &[a, b]) => run.numbers::<Wald, 2>(&[a, b], out, |source, lists, out| {
            map(source, Domain::Wald, 0, words::Walds { lists }, out);
        }),
        (Kind::VonMises, &[a, b]) => {
            run.numbers::<VonMises, 2>(&[a, b], out, |source, lists, out| {
                accepted(source, Domain::VonMises, &words::Angles(Lists::new(lists)), out);
            })
        }
        (Kind::LogNormal, &[a, b]) => {
            run.chunks::<LogNormal, f64, 2>(&[a, b], out, words::lognormal)
        }
        (Kind::Weibull, &[a]) => words::shaped::<Weibull, 1>(run, &[a], out),
        (Kind::Pareto, &[a]) => words::shaped::<Pareto, 1>(run, &[a], out),
        (Kind::Power, &[a]) => words::shaped::<Power, 1>(run, &[a], out),
        (Kind::ScaledUniform, &[a, b]) => words::shaped::<ScaledUniform, 2>(run, &[a, b], out),
        (Kind::Triangular, &[a, b, c]) => words::shaped::<Triangular, 3>(run, &[a, b, c], out),
        _ => None,
    }
}

fn integers(
    kind: Kind,
    lists: &[&[f64]],
    run: &Run<'_>,
    out: &mut [u64],
) -> Option<Result<(), Error>> {
    match (kind, lists) {
        (Kind::Poisson, &[means]) => {
            run.counts::<Poisson, 1>(&[means], out, |source, [means], out| {
                let mut all = Means([0.0; CHUNK]);
                all.0.iter_mut().zip(means).for_each(|(to, &mean)| *to = mean);
                accepted(source, Domain::Poisson, &all, out);
            })
        }
        (Kind::Binomial, &[n, p]) => {
            run.counts::<Binomial, 2>(&[n, p], out, |source, lists, out| {
                accepted(source, Domain::Binomial, &Binomials::new(lists), out);
                source.path.run(Successes { lists, out });
            })
        }
        (Kind::Hypergeometric, &[good, bad, sample]) => {
            run.counts::<Hypergeometric, 3>(&[good, bad, sample], out, |source, lists, out| {
                accepted(source, Domain::Hypergeometric, &Populations::new(lists), out);
                source.path.run(GoodItems { lists, out });
            })
        }
        (Kind::NegativeBinomial, &[n, p]) => {
            let room = &mut Room::default();
            run.counts::<NegativeBinomial, 2>(&[n, p], out, |source, lists, out| {
                gammas::negative_binomial(room, source, lists, out);
            })
        }
        (Kind::Zipf, &[a]) => run.counts::<Zipf, 1>(&[a], out, |source, lists, out| {
            accepted(source, Domain::Zipf, &Each::<Zipf, 1>::new(&Lists::new(lists)), out);
        }),
        (Kind::LogSeries, &[p]) => run.counts::<LogSeries, 1>(&[p], out, |source, lists, out| {
            map(source, Domain::LogSeries, 0, Each::<LogSeries, 1>::new(&Lists::new(lists)), out);
        }),
        (Kind::Geometric, &[p]) => run.chunks::<Geometric, u64, 1>(&[p], out, words::geometric),
        _ => None,
    }
}
