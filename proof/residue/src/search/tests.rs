//! The search finds what is planted, in each form that a compiler leaves it in.

use super::oracle::{Cipher, stream};
use super::residue;
use super::schedule::Schedule;
use crate::memory::Section;
use crate::subject::Account;

fn key() -> [u8; 32] {
    core::array::from_fn(|i| (i * 89 + 7) as u8)
}

/// Returns an account of a draw of the third block, with these bytes left on the stack.
fn account(cipher: Cipher, left: &[u8]) -> Account {
    let stream = stream(&key(), cipher);
    let mut bytes = vec![0xA5; 4096];
    bytes[1000..1000 + left.len()].copy_from_slice(left);
    Account {
        sections: vec![Section { name: "stack".into(), bytes }],
        pages: vec![],
        served: stream[2].to_vec(),
        later: stream[3..200].as_flattened().to_vec(),
        told: vec![],
        status: String::new(),
        stack: 0,
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let found = residue(&account(Cipher::Aes, &stream(&key(), Cipher::Aes)[2]));
    assert!(found.keys.is_empty());
    assert_eq!((found.key_pieces.count, found.round_keys.count, found.stream.count), (0, 0, 0));
}

#[test]
fn a_key_is_found() {
    for cipher in [Cipher::Aes, Cipher::ChaCha] {
        let found = residue(&account(cipher, &key()));
        assert_eq!(found.keys, [(key(), cipher)]);
        assert_eq!(found.key_pieces.count, 4);
    }
}

#[test]
fn two_round_keys_are_found_wherever_they_are_in_the_schedule() {
    let rows = Schedule::new().expand(&key());
    for i in 0..14 {
        for (first, second, stride) in
            [(i, i + 1, 16), (i + 1, i, 16), (i, i + 1, 32), (i + 1, i, 64)]
        {
            let mut left = vec![0; 96];
            left[..16].copy_from_slice(&rows[first]);
            left[stride..stride + 16].copy_from_slice(&rows[second]);
            let found = residue(&account(Cipher::Aes, &left));
            assert_eq!(found.keys, [(key(), Cipher::Aes)], "{first} {second} {stride}");
        }
    }
}

#[test]
fn halves_far_apart_are_found() {
    let mut left = vec![0; 2048];
    left[..16].copy_from_slice(&key()[16..]);
    left[2000..2016].copy_from_slice(&key()[..16]);
    for cipher in [Cipher::Aes, Cipher::ChaCha] {
        assert_eq!(residue(&account(cipher, &left)).keys, [(key(), cipher)]);
    }
}

#[test]
fn a_block_that_is_served_later_is_found() {
    let found = residue(&account(Cipher::Aes, &stream(&key(), Cipher::Aes)[77]));
    assert!(found.keys.is_empty());
    assert_eq!(found.stream.count, 1);
    assert_eq!(found.stream.first.as_deref(), Some("stack-3096"));
}

#[test]
fn told_keys_are_searched_in_parts() {
    let rows = Schedule::new().expand(&key());
    let left = [&key()[3..11], &[0; 5], &rows[9], &[0; 7]].concat();
    let told = |cipher| Account { told: vec![key()], ..account(cipher, &left) };
    let found = residue(&told(Cipher::Aes));
    assert_eq!((found.key_pieces.count, found.round_keys.count), (1, 1));
    assert!(!found.is_blind);
    let other = Account { told: vec![[9; 32]], ..account(Cipher::Aes, &left) };
    assert!(residue(&other).is_blind);
}
