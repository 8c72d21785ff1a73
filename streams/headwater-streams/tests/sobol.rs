//! Sobol's sequences: against SciPy's, as nets, and by the error of integrals.

use headwater_streams::distributions::Sobol;
use headwater_streams::{Error, Key, Stream};
use serde_json::Value;

fn stream(number: u64) -> Stream {
    Key::from_seed("sobol").stream(number).unwrap()
}

fn points(sobol: &Sobol, stream: &Stream, dimension: usize, start: u64, many: usize) -> Vec<f64> {
    let mut points = vec![0.0; dimension * many];
    stream.fill_vectors(sobol, start, &mut points).unwrap();
    points
}

/// `tests/distributions/sobol.json` has points of `scipy.stats.qmc.Sobol(1111, scramble=False)`
/// (SciPy 1.17.1): a few coordinates times 2^53, and the FNV-1a hash of all of them.
#[test]
fn plain_points_are_those_of_scipy() {
    let file: Value = serde_json::from_str(include_str!("distributions/sobol.json")).unwrap();
    let sobol = Sobol::plain(1111).unwrap();
    for case in file.as_array().unwrap() {
        let index = case["index"].as_u64().unwrap();
        let point = points(&sobol, &stream(0), 1111, index, 1);
        let whole: Vec<u64> = point.iter().map(|x| (x * 2f64.powi(53)) as u64).collect();
        for (x, right) in whole.iter().zip(case["first"].as_array().unwrap()) {
            assert_eq!(x.to_string(), right.as_str().unwrap(), "{index}");
        }
        assert_eq!(whole[1110].to_string(), case["last"].as_str().unwrap(), "{index}");
        let hash = whole
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |h: u64, x| (h ^ x).wrapping_mul(0x100_0000_01b3));
        assert_eq!(format!("{hash:016x}"), case["hash"].as_str().unwrap(), "{index}");
    }
}

/// Counts the points in each box of 2^k[c] parts of coordinate c, and returns the counts.
fn boxes(points: &[f64], sides: &[u32]) -> Vec<u32> {
    let mut counts = vec![0; 1 << sides.iter().sum::<u32>()];
    for point in points.chunks(sides.len()) {
        let place = point
            .iter()
            .zip(sides)
            .fold(0, |place, (&x, &side)| place << side | (x * f64::from(1 << side)) as usize);
        counts[place] += 1;
    }
    counts
}

/// The first d coordinates are a (t, m, d)-net: t is 0, 0, 1 and 3 for 1 to 4 of them, the sum of
/// the polynomials' degrees less one each. Every box of 2^(t - m) has 2^t points, scrambled or not.
#[test]
fn points_are_nets() {
    const M: u32 = 10;
    for (dimension, t) in [(1, 0), (2, 0), (3, 1), (4, 3)] {
        for sobol in [Sobol::plain(dimension).unwrap(), Sobol::new(dimension).unwrap()] {
            for start in [0, 5 << M] {
                let points = points(&sobol, &stream(1), dimension, start, 1 << M);
                let volume = M - t;
                let mut sides = vec![0; dimension];
                // All ways to share the volume's bits among the sides.
                for code in 0..(volume + 1).pow(dimension as u32) {
                    let mut rest = code;
                    for side in &mut sides {
                        (*side, rest) = (rest % (volume + 1), rest / (volume + 1));
                    }
                    if sides.iter().sum::<u32>() == volume {
                        let counts = boxes(&points, &sides);
                        assert!(counts.iter().all(|&n| n == 1 << t), "{dimension} {sides:?}");
                    }
                }
            }
        }
    }
}

/// Each coordinate of each dimension has one point in each of as many intervals as points.
#[test]
fn every_coordinate_is_a_net_by_itself() {
    for sobol in [Sobol::plain(1111).unwrap(), Sobol::new(1111).unwrap()] {
        let points = points(&sobol, &stream(2), 1111, 1 << 20, 64);
        for coordinate in 0..1111 {
            let one: Vec<f64> = points.iter().skip(coordinate).step_by(1111).copied().collect();
            assert_eq!(boxes(&one, &[6]), [1; 64], "{coordinate}");
        }
    }
}

/// Over many streams each bit of a coordinate is 1 in half of them. The first bit in which two
/// points differ always differs, and the bits below are flipped independently: within 5 deviations.
#[test]
fn every_bit_is_flipped_by_its_own_coin() {
    const STREAMS: u64 = 20_000;
    let sobol = Sobol::new(3).unwrap();
    let (mut ones, mut pairs) = ([[0u32; 53]; 3], [0u32; 53]);
    let whole = |x: f64| (x * 2f64.powi(53)) as u64;
    for number in 0..STREAMS {
        let mut both = [0.0; 6];
        stream(number).vectors_at(&sobol, &[0, 512], &mut both).unwrap();
        for (coordinate, &x) in both[..3].iter().enumerate() {
            for (bit, ones) in ones[coordinate].iter_mut().enumerate() {
                *ones += (whole(x) >> (52 - bit) & 1) as u32;
            }
        }
        for (bit, pairs) in pairs.iter_mut().enumerate() {
            *pairs += ((whole(both[0]) ^ whole(both[3])) >> (52 - bit) & 1) as u32;
        }
    }
    let deviation = (STREAMS as f64 / 4.0).sqrt();
    let near = |n: u32| (f64::from(n) - STREAMS as f64 / 2.0).abs() < 5.0 * deviation;
    assert!(ones.as_flattened().iter().all(|&n| near(n)), "{ones:?}");
    let first = pairs.iter().position(|&n| n > 0).unwrap();
    assert_eq!(pairs[first], STREAMS as u32);
    assert!(pairs[first + 1..].iter().all(|&n| near(n)), "{pairs:?}");
}

/// The error of three integrals, the root of its mean square over 64 streams, beside that of
/// `scipy.stats.qmc.Sobol` (SciPy 1.17.1, 2,000 scrambles by a linear matrix and a shift).
#[test]
fn integrals_are_as_precise_as_scipys() {
    type Function = fn(&[f64]) -> f64;
    let product: Function = |x| x.iter().map(|x| 0.5 + x).product::<f64>() - 1.0;
    let corner: Function = |x| x.iter().map(|x| (4.0 * x - 2.0).abs()).product::<f64>() - 1.0;
    let half: Function =
        |x| f64::from(u8::from(x.iter().sum::<f64>() > x.len() as f64 / 2.0)) - 0.5;
    for (name, function, dimension, log, scipys) in [
        ("product", product, 2, 8, 1.77e-4),
        ("product", product, 2, 12, 2.93e-6),
        ("product", product, 6, 8, 3.19e-3),
        ("product", product, 6, 12, 1.33e-4),
        ("corner", corner, 2, 8, 1.90e-3),
        ("corner", corner, 2, 12, 3.51e-5),
        ("corner", corner, 6, 8, 5.38e-2),
        ("corner", corner, 6, 12, 5.94e-3),
        ("half space", half, 2, 8, 7.93e-3),
        ("half space", half, 2, 12, 9.85e-4),
        ("half space", half, 6, 8, 1.48e-2),
        ("half space", half, 6, 12, 3.05e-3),
    ] {
        let sobol = Sobol::new(dimension).unwrap();
        let squares = (0..64).map(|number| {
            let points = points(&sobol, &stream(number), dimension, 0, 1 << log);
            let sum: f64 = points.chunks(dimension).map(function).sum();
            (sum / f64::from(1 << log)).powi(2)
        });
        let error = (squares.sum::<f64>() / 64.0).sqrt();
        println!("{name} of {dimension}, 2^{log} points: {error:.2e}, SciPy {scipys:.2e}");
        assert!(error < 1.4 * scipys, "{name} of {dimension}, 2^{log}: {error}, not {scipys}");
    }
}

#[test]
fn dimensions_and_points_that_do_not_exist_are_refused() {
    for dimension in [0, 1112, usize::MAX] {
        for made in [Sobol::new(dimension), Sobol::plain(dimension)] {
            assert!(matches!(made, Err(Error::Parameter { name: "dimension", .. })), "{made:?}");
        }
    }
    let (sobol, mut out) = (Sobol::new(2).unwrap(), [0.0; 4]);
    stream(0).fill_vectors(&sobol, (1 << 53) - 2, &mut out).unwrap();
    let past = Err(Error::RangeTooLong { start: (1 << 53) - 1, len: 2 });
    assert_eq!(stream(0).fill_vectors(&sobol, (1 << 53) - 1, &mut out), past);
}
