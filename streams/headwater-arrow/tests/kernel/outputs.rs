//! Structs that leave: what they lead to, and who may free them, and when.

use crate::values::stream;
use headwater_arrow::{ArrowArray, ArrowSchema, Column, Ids, Nulls, Output, draw, sample};
use headwater_streams::kinds::{Dtype, Kind, Value};
use std::ffi::CStr;

fn normals(ids: &[i64]) -> Output {
    let made = Kind::Normal.make(&[]).unwrap();
    draw(&Ids::from_i64(ids).column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept).unwrap()
}

fn release(array: &mut ArrowArray) {
    // SAFETY: the struct was exported, and its function checks what it may free.
    array.release.inspect(|release| unsafe { release(array) });
}

fn release_schema(schema: &mut ArrowSchema) {
    // SAFETY: as above.
    schema.release.inspect(|release| unsafe { release(schema) });
}

fn text(at: *const std::ffi::c_char) -> String {
    // SAFETY: schemas have C strings.
    unsafe { CStr::from_ptr(at) }.to_str().unwrap().to_owned()
}

#[test]
fn a_struct_outlives_its_output_and_is_released_once() {
    let output = normals(&[1, 2, 3]);
    let (mut first, mut second) = (output.array().unwrap(), output.array().unwrap());
    drop(output);
    release(&mut first);
    assert!(first.release.is_none());
    release(&mut first);
    // SAFETY: the second struct holds the values by itself.
    let values = unsafe { std::slice::from_raw_parts((*second.buffers.add(1)).cast::<f64>(), 3) };
    let mut expected = [0.0; 3];
    stream().normal_f64_at(&[1, 2, 3], &mut expected).unwrap();
    assert_eq!(values, expected);
    // A struct may be moved, and released from another thread.
    struct Moved(ArrowArray);
    // SAFETY: nothing of the struct belongs to a thread.
    unsafe impl Send for Moved {}
    let moved = Moved(std::mem::replace(&mut second, ArrowArray::empty()));
    std::thread::spawn(move || {
        let mut moved = moved;
        let all = &mut moved;
        release(&mut all.0);
    })
    .join()
    .unwrap();
}

#[test]
fn a_child_that_was_moved_out_outlives_its_list() {
    let made = Kind::Dirichlet.make(&[Value::Reals(&[1.0, 2.0])]).unwrap();
    let ids = [4, 5];
    let output =
        draw(&Ids::from_i64(&ids).column().unwrap(), &stream(), &made, Dtype::F64, Nulls::Kept);
    let output = output.unwrap();
    let mut list = output.array().unwrap();
    let mut schema = output.schema("shares").unwrap();
    assert_eq!((text(schema.format), text(schema.name)), ("+w:2".into(), "shares".into()));
    // SAFETY: a list has one child.
    let child = unsafe { &mut **schema.children };
    assert_eq!((text(child.format), text(child.name)), ("g".into(), "item".into()));
    let mut kept = std::mem::replace(child, ArrowSchema::empty());
    release_schema(&mut schema);
    assert_eq!(text(kept.format), "g");
    release_schema(&mut kept);

    // SAFETY: as above.
    let mut child = unsafe { std::mem::replace(&mut **list.children, ArrowArray::empty()) };
    assert_eq!((list.length, list.n_buffers, child.length, child.n_buffers), (2, 1, 4, 2));
    release(&mut list);
    drop(output);
    // SAFETY: the child holds the values by itself.
    let values = unsafe { std::slice::from_raw_parts((*child.buffers.add(1)).cast::<f64>(), 4) };
    assert!(
        (values[0] + values[1] - 1.0).abs() < 1e-15 && (values[2] + values[3] - 1.0).abs() < 1e-15
    );
    release(&mut child);
    let mut whole = {
        let made = Kind::ComplexNormal.make(&[]).unwrap();
        draw(&Ids::from_i64(&ids).column().unwrap(), &stream(), &made, Dtype::C64, Nulls::Kept)
    }
    .unwrap()
    .array()
    .unwrap();
    assert_eq!((whole.length, whole.n_children), (2, 1));
    release(&mut whole);
}

#[test]
fn what_leaves_can_come_back() {
    let output = Kind::Integers.make(&[Value::Integer(5), Value::Integer(9)]).unwrap();
    let ids = Vec::from_iter(0..100);
    let output =
        draw(&Ids::from_i64(&ids).column().unwrap(), &stream(), &output, Dtype::I16, Nulls::Kept);
    let output = output.unwrap();
    let (mut array, mut schema) = (output.array().unwrap(), output.schema("").unwrap());
    // SAFETY: both were exported just now.
    let column = unsafe { Column::new(&schema, &array) }.unwrap();
    assert!(sample(&column, &stream(), 0.5, Nulls::Refused).is_ok());
    release(&mut array);
    release_schema(&mut schema);
}

#[test]
fn names_are_kept_and_refused_if_c_cannot_hold_them() {
    let output = normals(&[]);
    let mut schema = output.schema("Größe").unwrap();
    assert_eq!(text(schema.name), "Größe");
    release_schema(&mut schema);
    assert_eq!(output.schema("a\0b").unwrap_err().to_string(), "name must be a text without a NUL");
}
