//! Random columns by row id, over the Arrow C data interface. [Not for
//! secrets](headwater_streams).
//!
//! An engine that computes on columns decides by itself how rows are partitioned, in which order
//! they come and how many threads work. So a generator with a state assigns other numbers to the
//! rows in each run. The functions here have none: row by row they map the integer in a column of
//! ids to the element of a [`Stream`](headwater_streams::Stream) with this index, so that one seed
//! makes one column in every engine.
//!
//! | function | column that it returns |
//! | --- | --- |
//! | [`draw`] | numbers of any kind of the table of kinds |
//! | [`draw_by_row`] | the same, with parameters that are columns |
//! | [`sample`] | true for a share of the rows |
//! | [`split`] | the part of each row: folds, or training and test |
//! | [`order`] | words to sort by: a shuffle that needs no list of rows |
//! | [`key_of`] | ids of rows that have none, from texts, dates and other values |
//!
//! Columns go in and out by the [Arrow C data interface], a pair of C structs ([`ArrowSchema`],
//! [`ArrowArray`]) that every engine speaks. So one kernel serves all of them, and no version of an
//! Arrow library is part of its interface.
//!
//! [Arrow C data interface]: https://arrow.apache.org/docs/format/CDataInterface.html
//!
//! ```
//! use headwater_arrow::{Ids, Nulls, draw, label};
//! use headwater_streams::Key;
//! use headwater_streams::kinds::{Dtype, Kind};
//!
//! let key = label::named(&Key::from_seed(42), "noise");
//! let mut ids = Ids::from_i64(&[3, 1, 2]);
//! let normal = Kind::Normal.make(&[])?;
//! let column = draw(&ids.column()?, &key.stream(0)?, &normal, Dtype::F64, Nulls::Kept)?;
//! assert_eq!(column.len(), 3);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#![no_std]

mod abi;
mod by_row;
mod column;
mod decide;
mod draw;
mod error;
mod format;
mod ids;
mod key_of;
pub mod label;
mod memory;
mod output;
mod rows;
mod shown;
mod xxh64;

pub use abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
pub use by_row::{By, draw_by_row, draw_by_row_to};
pub use column::Column;
pub use decide::{Parts, order, order_to, sample, sample_to, split, split_to};
pub use draw::{draw, draw_to, format_of};
pub use error::{Error, Part};
pub use format::Name;
pub use ids::Ids;
pub use key_of::key_of;
pub use output::{Output, schema};
pub use rows::Nulls;
pub use shown::Shown;
pub use xxh64::xxh64;
