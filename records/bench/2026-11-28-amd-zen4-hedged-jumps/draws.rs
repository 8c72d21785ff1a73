//! Least time of 400 runs of 20,000 draws, beside that of two words of RDRAND.

use std::arch::x86_64::_rdrand64_step;
use std::hint::black_box;
use std::time::Instant;

const DRAWS: u32 = 20_000;

#[inline(never)]
fn fill16() {
    for _ in 0..DRAWS {
        let mut block = [0u8; 16];
        headwater::fill(black_box(&mut block)).unwrap();
        black_box(block);
    }
}

#[inline(never)]
fn words() {
    for _ in 0..DRAWS {
        black_box(headwater::u64().unwrap());
    }
}

#[inline(never)]
#[target_feature(enable = "rdrand")]
fn two_words() {
    for _ in 0..DRAWS {
        let (mut first, mut second) = (0, 0);
        _rdrand64_step(&mut first);
        _rdrand64_step(&mut second);
        black_box((first, second));
    }
}

fn main() {
    let cases = [fill16, words, || unsafe { two_words() }];
    let mut least = [f64::MAX; 3];
    for _ in 0..400 {
        for (case, least) in cases.iter().zip(&mut least) {
            let start = Instant::now();
            case();
            *least = least.min(start.elapsed().as_nanos() as f64 / f64::from(DRAWS));
        }
    }
    let [fill, word, two] = least;
    let name = std::env::args().nth(1).unwrap_or_default();
    println!(
        "{name:24} 16 B {fill:.1} ns, u64 {word:.1}, two words {two:.1}; ratios {:.2} and {:.2}",
        fill / two,
        word / two
    );
}
