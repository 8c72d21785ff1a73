//! The code that the table's entries become: an enum of the kinds, and the matches over it. They
//! are one macro, so no match can miss an entry or confuse two.

/// Makes the enum of the kinds, their facts, and the match that makes and draws each of them.
macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $kind:ident = $number:literal: |$values:pat_param| $make:expr,
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

            /// Makes the kind, and lends it to `then`.
            pub(super) fn lend(
                self,
                values: Values<'_, '_>,
                then: &mut dyn FnMut(&dyn Held),
            ) -> Result<(), Error> {
                match self {$(
                    Kind::$kind => lent(values, |$values| Ok($make), then),
                )*}
            }

            /// Makes the kind in memory of its own.
            #[cfg(feature = "std")]
            pub(super) fn boxed<'a>(
                self,
                values: Values<'_, 'a>,
            ) -> Result<Box<dyn Held + Send + 'a>, Error> {
                Ok(match self {$(
                    Kind::$kind => {
                        let $values = values;
                        Box::new($make)
                    }
                )*})
            }
        }
    };
}

pub(super) use kinds;
