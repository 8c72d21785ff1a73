//! The code that the table's entries become: an enum of the kinds, another of the kinds that were
//! made, and the matches over both. They are one macro, so no match can miss an entry or confuse
//! two.

/// Makes the enum of the kinds, their facts, and the match that makes and draws each of them.
macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $kind:ident = $number:literal: $held:ty, |$values:pat_param| $make:expr,
        $facts:expr;
    )*) => {
        /// A kind of numbers: an entry of the table.
        ///
        /// The numbers are part of the interface of the native libraries: they never change, and
        /// new kinds are added at the end.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Kind {$(
            $(#[$doc])*
            $kind = $number,
        )*}

        /// A kind that was made of its values.
        #[derive(Debug)]
        pub(super) enum Any<'a> {$(
            $kind($held),
        )*}

        impl Kind {
            /// All kinds, in the order of their numbers.
            pub const ALL: [Kind; [$($number),*].len()] = [$(Kind::$kind),*];

            /// Returns what the table says of the kind.
            pub const fn facts(self) -> &'static Facts {
                match self {$(
                    Kind::$kind => {
                        const FACTS: Facts = $facts;
                        &FACTS
                    }
                )*}
            }

            pub(super) fn hold<'a>(self, values: Values<'_, 'a>) -> Result<Any<'a>, Error> {
                Ok(match self {$(
                    Kind::$kind => {
                        let $values = values;
                        Any::$kind($make)
                    }
                )*})
            }
        }

        impl Kind {
            /// Makes the kind and writes its elements.
            pub(super) fn write(
                self,
                values: Values<'_, '_>,
                job: &mut Job<'_>,
            ) -> Result<(), Error> {
                match self {$(
                    Kind::$kind => once(values, |$values| Ok($make), job),
                )*}
            }
        }

        impl Made<'_> {
            /// Returns the kind.
            pub fn kind(&self) -> Kind {
                match &self.0 {$(
                    Any::$kind(_) => Kind::$kind,
                )*}
            }

            pub(super) fn write(&self, job: &mut Job<'_>) -> Result<(), Error> {
                match &self.0 {$(
                    Any::$kind(held) => held.write(job),
                )*}
            }

            pub(super) fn held_fits(&self, dtype: Dtype) -> Result<(), Error> {
                match &self.0 {$(
                    Any::$kind(held) => held.fits(dtype),
                )*}
            }

            pub(super) fn held_dimension(&self) -> Option<NonZero<usize>> {
                match &self.0 {$(
                    Any::$kind(held) => held.dimension(),
                )*}
            }
        }
    };
}

pub(super) use kinds;
