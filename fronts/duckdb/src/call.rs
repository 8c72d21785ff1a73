//! A call of a function for a chunk of rows.

use crate::abi::{Api, Handle};
use crate::arrow::Arrow;
use crate::constant::{self, Numbers};
use crate::function::Function;
use crate::output::Place;
use crate::plan::Plan;
use crate::vector::{Chunk, Vector};
use core::slice;
use headwater_arrow::{Nulls, key_of};
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    /// The plans of this thread's last calls, the newest last. A plan takes a hash for the seed and
    /// one for the name, and some kinds a table, which would be half of the time of 2,048 rows.
    static PLANS: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// The most plans that a thread keeps: more than a query has functions.
const KEPT: usize = 32;

struct Known {
    function: Function,
    constants: Vec<constant::Constant>,
    plan: Rc<Plan>,
}

/// Returns the plan of a function and its constants.
fn plan(function: Function, constants: Vec<constant::Constant>) -> Result<Rc<Plan>, String> {
    let found = PLANS.with(|plans| {
        let plans = plans.borrow();
        let is_it = |known: &&Known| {
            known.function == function
                && known.constants.len() == constants.len()
                && known.constants.iter().zip(&constants).all(|(a, b)| a.is_same(b))
        };
        plans.iter().rev().find(is_it).map(|known| Rc::clone(&known.plan))
    });
    if let Some(plan) = found {
        return Ok(plan);
    }
    let plan = Rc::new(Plan::new(function, &constants)?);
    PLANS.with(|plans| {
        let mut plans = plans.borrow_mut();
        if plans.len() >= KEPT {
            plans.remove(0);
        }
        plans.push(Known { function, constants, plan: Rc::clone(&plan) });
    });
    Ok(plan)
}

/// The error of a weight, the same as in Python.
const WEIGHTS: &str = "weights must be finite numbers from 0, and none may be missing";
/// The smallest weight above 0. An exponential number is at most 45, so over a weight from here on
/// it is finite; over a smaller one it may be infinity, which is what the weight 0 has.
const LEAST: f64 = 1e-306;

/// Computes the results of a chunk.
///
/// # Safety
///
/// `chunk` and `out` are those that DuckDB passed to the function, whose results have the
/// function's type.
pub(crate) unsafe fn run(
    api: &Api,
    function: Function,
    chunk: Handle,
    out: Handle,
) -> Result<(), String> {
    // SAFETY: as `# Safety` says.
    let (chunk, mut place) = unsafe {
        let chunk = Chunk::new(api, chunk);
        (chunk, Place::new(api, out, chunk.rows))
    };
    if chunk.rows == 0 {
        return Ok(());
    }
    let columns: Vec<Vector<'_>> = (0..chunk.columns).filter_map(|i| chunk.column(i)).collect();
    if function == Function::Key {
        return keys(&columns, chunk.rows, &mut place);
    }
    let (names, optional) = function.arguments();
    let (least, most) = (names.len() - optional, names.len());
    let usage = function.usage();
    if !(least..=most).contains(&columns.len()) {
        return Err(format!("{usage} takes {least} to {most} arguments, not {}", columns.len()));
    }
    let (constants, mut by) = arguments(function, &names, &columns, chunk.rows, false)?;
    let mut refused = None;
    let plan = match plan(function, constants) {
        Ok(plan) => plan,
        // A value that all rows of this chunk have counts as a constant, also if it is wrong. But
        // in a row without an id, or with a null beside it, it is no error, so a chunk of such
        // rows would fail, and pass beside any other row. So the rows decide, and the sentence
        // stays that of the constant.
        Err(error) => {
            let (constants, columns) = arguments(function, &names, &columns, chunk.rows, true)
                .map_err(|_| error.clone())?;
            by = columns;
            let plan = plan(function, constants).map_err(|_| error.clone())?;
            refused = Some(error);
            plan
        }
    };
    let text = |error: headwater_arrow::Error| refused.clone().unwrap_or(text(error));
    let ids = columns.first().ok_or("no ids")?;
    let mut ids = Arrow::new(ids, chunk.rows).map_err(text)?;
    // In the order of the table, which the kernel takes.
    by.sort_by_key(|(at, _)| *at);
    let by: Result<Vec<_>, _> = by.iter_mut().map(|(_, column)| column.column()).collect();
    let mut null = Vec::new();
    // SAFETY: the width is that of the type for which `lib.rs` registered the function, and the
    // plan, which was made of the same function, writes numbers of this type, or bytes of 0 and 1.
    let values = unsafe { place.values(function.width()) };
    let ids = ids.column().map_err(text)?;
    plan.write(&ids, &by.map_err(text)?, values, &mut |start, rows| {
        let numbered = (start..).zip(rows);
        null.extend(numbered.filter(|(_, null)| **null).map(|(row, _)| row));
    })
    .map_err(text)?;
    if function == Function::Weighted {
        divide(values, columns.get(2).ok_or("no weights")?)?;
    }
    place.nulls(&null);
    Ok(())
}

/// Constants, and the parameters that are columns, each with its place in the kind's table.
type Arguments<'a> = (Vec<constant::Constant>, Vec<(usize, Arrow<'a>)>);

/// Returns the arguments after the ids. A parameter with one value in all rows is a constant,
/// unless `all_by_row`.
fn arguments<'a>(
    function: Function,
    names: &[&str],
    columns: &[Vector<'a>],
    rows: usize,
    all_by_row: bool,
) -> Result<Arguments<'a>, String> {
    let is_weight = |name: &str| function == Function::Weighted && name == "weight";
    let mut constants = Vec::with_capacity(columns.len());
    let mut by = Vec::new();
    for ((column, name), place) in columns.iter().zip(names).zip(0..).skip(1) {
        if is_weight(name) {
            continue;
        }
        let by_row = function.by_row(place);
        let one = match by_row.is_some() && all_by_row {
            true => None,
            false => constant::of(column, rows),
        };
        constants.push(match (one, by_row) {
            (Some(one), _) => one,
            (None, Some((at, form))) => {
                by.push((at, Arrow::parameter(column, rows, form).map_err(text)?));
                constant::Constant::Column
            }
            (None, None) => {
                return Err(format!(
                    "{name} in {} must be one value for all rows, and not null: write a constant",
                    function.usage()
                ));
            }
        });
    }
    Ok((constants, by))
}

/// Returns the text of an error, with the names that SQL has.
fn text(error: headwater_arrow::Error) -> String {
    error.to_string().replace("key_of()", "hw_key()")
}

/// Divides exponential numbers by weights: the order of a weighted sample. A weight of 0 makes
/// infinity, which comes last.
fn divide(numbers: &mut [u8], weights: &Vector<'_>) -> Result<(), String> {
    let weights = Numbers::new(weights);
    for (row, number) in numbers.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let weight = match weights.or_flag(row) {
            Some(weight) if weight.is_finite() && weight >= 0.0 => weight,
            Some(weight) if !weight.is_nan() => {
                return Err(format!("{WEIGHTS}: row {row} of the batch has {weight:?}"));
            }
            _ => return Err(format!("{WEIGHTS}: row {row} of the batch has no number")),
        };
        if weight > 0.0 && weight < LEAST {
            return Err(format!(
                "weights above 0 must be from 1e-306 on, but row {row} of the batch has {weight:e}: \
                 multiply all of them by the same power of 2, such as 2^100, which changes no order"
            ));
        }
        let quotient = f64::from_ne_bytes(*number) / weight;
        *number = if weight == 0.0 { f64::INFINITY } else { quotient }.to_ne_bytes();
    }
    Ok(())
}

/// Computes ids of texts and other values.
fn keys(columns: &[Vector<'_>], rows: usize, place: &mut Place<'_>) -> Result<(), String> {
    let made: Result<Vec<_>, _> = columns.iter().map(|column| Arrow::new(column, rows)).collect();
    let mut made = made.map_err(|error| match error {
        // The advice of an id that is too large is to make a key of it, which this call does.
        headwater_arrow::Error::TooLarge { row, .. } => {
            text(headwater_arrow::Error::Inexact { row, need: "an integer of 64 bits" })
        }
        error => text(error),
    })?;
    let columns: Result<Vec<_>, _> = made.iter_mut().map(Arrow::column).collect();
    let keys = key_of(&columns.map_err(text)?, Nulls::Kept).map_err(text)?;
    if keys.len() != rows {
        return Err("headwater made another number of keys, which is a bug".into());
    }
    let (valid, values) = keys.buffers();
    // SAFETY: a column of keys has 8 bytes for each row, and the place is one of BIGINTs.
    unsafe {
        let values = slice::from_raw_parts(values.as_ptr(), rows * 8);
        place.values(8).copy_from_slice(values);
    }
    if let Some(valid) = valid.filter(|_| keys.null_count() > 0) {
        // SAFETY: the column has a bit for each row.
        let bits = unsafe { slice::from_raw_parts(valid.as_ptr(), rows.div_ceil(8)) };
        let is_null = |row: &usize| bits[row / 8] >> (row % 8) & 1 == 0;
        place.nulls(&(0..rows).filter(is_null).collect::<Vec<_>>());
    }
    Ok(())
}
