//! One table of the kinds of numbers that a stream has, and one function that draws any of them.
//!
//! The typed functions of [`Stream`](crate::Stream) suit a program that knows what it draws. A
//! library in front of streams does not: Python, Java, an array engine and a query each have the
//! kind, its parameters and the type of its elements as values. If each had a list of its own, one
//! distribution would be spelled in as many places as there are fronts, and two lists in another
//! order would return wrong numbers in silence. So the [table](Kind) has each kind once: its name
//! and number, its parameters with their ranges and defaults, the types of its elements, and how it
//! is made. Fronts ask the table, or are generated from it by `cargo xtask generate`.
//!
//! ```
//! use headwater_streams::Key;
//! use headwater_streams::kinds::{Elements, Kind, Out, Value};
//!
//! for kind in Kind::ALL {
//!     println!("{}: {} parameters", kind.name(), kind.parameters().len());
//! }
//! let stream = Key::from_seed(42).stream(0)?;
//! let weights = Kind::Categorical.make(&[Value::Reals(&[3.0, 1.0])])?;
//! let mut outcomes = [0_u32; 100];
//! weights.draw(&stream, Elements::From(0), Out::new(&mut outcomes))?;
//! assert!(outcomes.iter().all(|&outcome| outcome < 2));
//! # Ok::<(), headwater_streams::Error>(())
//! ```

mod draw;
mod dtype;
mod entry;
mod facts;
mod made;
mod place;
mod plain;
mod survey;
mod table;
mod value;

#[cfg(feature = "std")]
pub(crate) use draw::POISSON_MOST;
pub use draw::draw;
pub use dtype::Dtype;
pub use facts::{Facts, Form, Fronts, Parameter, Range, Type};
pub use made::Made;
pub use place::{Element, Elements, Out};
pub use survey::Survey;
pub use table::Kind;
#[cfg(feature = "std")]
pub(crate) use value::room;
pub use value::{Room, Value};

use crate::Error;
#[cfg(feature = "std")]
pub use crate::distributions::draw_each;

impl Kind {
    /// Returns the kind with this name, such as `chi_square`.
    pub fn by_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind with this number, which never changes.
    pub fn by_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }

    /// Returns an error if the kind has no elements of this type.
    #[inline]
    fn has(self, dtype: Dtype) -> Result<(), Error> {
        match self.types().iter().any(|one| one.dtype == dtype) {
            true => Ok(()),
            false => Err(Error::ElementType { kind: self, dtype }),
        }
    }

    /// Returns an error if there are more values than parameters. One that is missing is found when
    /// it is read.
    #[inline]
    fn has_not_more(self, values: &[Value<'_>]) -> Result<(), Error> {
        let place = self.parameters().len();
        if values.len() > place { Err(Error::Value { kind: self, place }) } else { Ok(()) }
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the parameters, in the order in which [`make`](Kind::make) takes their values.
    pub const fn parameters(self) -> &'static [Parameter] {
        self.facts().parameters
    }

    /// Returns the types of elements, the default first.
    pub const fn types(self) -> &'static [Type] {
        self.facts().types
    }
}
