//! Streams on rayon pools of several sizes: the values of one thread.

#![cfg(feature = "rayon")]

use headwater_streams::{Error, Key, Stream};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

const LEN: usize = 300_001;

fn stream() -> Stream {
    Key::from_seed(42).stream(3).unwrap()
}

fn on_pools(test: impl Fn() + Send + Sync) {
    for threads in [1, 2, 7] {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&test);
    }
}

#[test]
fn arrays_are_those_of_one_thread() {
    let mut expected = vec![0.0; LEN];
    stream().fill_normal_f64(5, &mut expected).unwrap();
    on_pools(|| {
        let mut out = vec![0.0; LEN];
        stream().on_rayon().fill_normal_f64(5, &mut out).unwrap();
        assert!(out == expected);
    });
    let error = stream().on_rayon().fill_u64(u64::MAX, &mut [0; 2]);
    assert!(matches!(error, Err(Error::RangeTooLong { .. })), "{error:?}");
}

#[test]
fn values_are_the_same_in_any_order_and_partition() {
    let mut expected = vec![0; LEN];
    stream().fill_u64(9, &mut expected).unwrap();
    let range = 9..9 + LEN as u64;
    on_pools(|| {
        let values = || stream().par_values(range.clone(), Stream::fill_u64).unwrap();
        assert_eq!(values().len(), LEN);
        assert!(values().collect::<Vec<u64>>() == expected);
        // Small pieces, from both ends, and with holes.
        assert!(values().with_max_len(1).collect::<Vec<u64>>() == expected);
        let reversed: Vec<u64> = values().rev().collect();
        assert!(reversed.iter().rev().eq(&expected));
        let each_third: Vec<u64> = values().step_by(3).collect();
        assert!(each_third.iter().eq(expected.iter().step_by(3)));
        assert_eq!(values().max(), expected.iter().copied().max());
        let zipped: Vec<u64> = values().zip(values().skip(1)).map(|(a, b)| a ^ b).collect();
        assert!(zipped.iter().copied().eq(expected.windows(2).map(|pair| pair[0] ^ pair[1])));
    });
}

#[test]
fn ranges_that_do_not_exist_are_refused() {
    for range in [0..u64::MAX, 1..u64::MAX] {
        let refused = stream().par_values(range, Stream::fill_u64);
        assert!(matches!(refused, Err(Error::RangeTooLong { .. })));
    }
    let none: Vec<u64> = stream().par_values(7..7, Stream::fill_u64).unwrap().collect();
    assert_eq!(none, []);
    // An error of the arguments comes before the first value, and not as a panic of a thread.
    let refuse = |_: &Stream, _: u64, _: &mut [u64]| Err(Error::StreamId(1));
    assert!(stream().par_values(0..10, refuse).is_err());
}
