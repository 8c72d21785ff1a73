//! A kind that was made of its values, for callers that check it or draw from it more than once.

use super::draw::{Held, Job};
use super::value::Values;
use super::{Dtype, Elements, Kind, Out, Value};
use crate::{Error, Stream};
use core::fmt;
use core::num::NonZero;

/// A kind that was made of its values.
pub struct Made<'a> {
    kind: Kind,
    held: Hold<'a>,
}

enum Hold<'a> {
    Lent(&'a dyn Held),
    #[cfg(feature = "std")]
    Own(Box<dyn Held + Send + 'a>),
}

impl Kind {
    /// Makes the kind of one value for each parameter, and lends it to `then`. Nothing is
    /// allocated, unless weights or a covariance are made into a table.
    ///
    /// With the feature `std`, weights and a covariance may be values as a user has them; otherwise
    /// [`prepare`](Kind::prepare) makes tables of them first.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] unless there is one value for each parameter, in its form, and
    /// [`Error::Parameter`], which names the parameter and its range, if there is no such
    /// distribution. `then` is not called then.
    pub fn with(self, values: &[Value<'_>], then: &mut dyn FnMut(&Made<'_>)) -> Result<(), Error> {
        self.has_not_more(values)?;
        self.lend(Values { kind: self, values }, &mut |held| {
            then(&Made { kind: self, held: Hold::Lent(held) });
        })
    }

    /// Makes the kind to be kept, in memory that this call allocates.
    ///
    /// # Errors
    ///
    /// The errors of [`with`](Kind::with).
    #[cfg(feature = "std")]
    pub fn make<'a>(self, values: &[Value<'a>]) -> Result<Made<'a>, Error> {
        self.has_not_more(values)?;
        Ok(Made { kind: self, held: Hold::Own(self.boxed(Values { kind: self, values })?) })
    }
}

impl Made<'_> {
    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the number of components of an element, if elements are vectors.
    pub fn dimension(&self) -> Option<NonZero<usize>> {
        self.held().dimension()
    }

    /// Draws elements in the type of `out`, which is one of the kind's.
    ///
    /// # Errors
    ///
    /// [`Error::ElementType`] if the kind has no elements of the type, [`Error::Parameter`] if a
    /// parameter is too large for it, and the errors of the typed functions, such as
    /// [`fill_distribution`](Stream::fill_distribution). Nothing is written then.
    pub fn draw(&self, stream: &Stream, elements: Elements<'_>, out: Out<'_>) -> Result<(), Error> {
        self.fits(out.dtype())?;
        self.held().write(&mut Job { kind: self.kind, stream, elements, out })
    }

    /// Returns an error unless the kind has elements of this type that hold all of its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::ElementType`] and [`Error::Parameter`], as [`draw`](Made::draw) has them.
    pub fn fits(&self, dtype: Dtype) -> Result<(), Error> {
        self.kind.has(dtype)?;
        self.held().fits(dtype)
    }

    fn held(&self) -> &dyn Held {
        match &self.held {
            Hold::Lent(held) => *held,
            #[cfg(feature = "std")]
            Hold::Own(held) => &**held,
        }
    }
}

impl fmt::Debug for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Made").field(&self.kind).finish()
    }
}
