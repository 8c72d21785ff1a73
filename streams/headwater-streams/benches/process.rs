//! The speed of `random_pseudo_bytes`, beside getrandom(2), `headwater::fill` and generators that a
//! thread keeps: interleaved rounds in one process, medians.
//!
//! `cargo bench -p headwater-streams --bench process`. Compare within one run only.

#[cfg(target_os = "linux")]
mod linux {
    use headwater_streams::generators::Xoshiro256pp;
    use headwater_streams::{random_pseudo_bytes, random_pseudo_u64};
    use std::hint::black_box;
    use std::thread;
    use std::time::Instant;

    const ROUNDS: usize = 31;

    type Fill = fn(&mut [u8]);

    fn pseudo(buf: &mut [u8]) {
        random_pseudo_bytes(buf).unwrap();
    }

    fn pseudo_word(buf: &mut [u8]) {
        let word = random_pseudo_u64().unwrap().to_le_bytes();
        buf.copy_from_slice(&word[..buf.len()]);
    }

    fn secure(buf: &mut [u8]) {
        headwater::fill(buf).unwrap();
    }

    fn getrandom(buf: &mut [u8]) {
        // SAFETY: the buffer's own address and length.
        let n = unsafe { libc::syscall(libc::SYS_getrandom, buf.as_mut_ptr(), buf.len(), 0) };
        assert_eq!(n, buf.len() as libc::c_long);
    }

    fn kept(buf: &mut [u8]) {
        thread_local! {
            static KEPT: std::cell::RefCell<Xoshiro256pp> = const { std::cell::RefCell::new(Xoshiro256pp::from_u64(1)) };
        }
        KEPT.with_borrow_mut(|kept| kept.fill_bytes(buf));
    }

    /// Returns the nanoseconds of one call.
    fn time(fill: Fill, len: usize, calls: usize) -> f64 {
        let mut buf = vec![0; len];
        let start = Instant::now();
        for _ in 0..calls {
            fill(black_box(&mut buf));
        }
        start.elapsed().as_secs_f64() * 1e9 / calls as f64
    }

    /// Returns the nanoseconds of one call while two threads draw at once, on the slower thread.
    fn time_twice(fill: Fill, len: usize, calls: usize) -> f64 {
        let threads = [(); 2].map(|()| thread::spawn(move || time(fill, len, calls)));
        threads.into_iter().map(|thread| thread.join().unwrap()).fold(0.0, f64::max)
    }

    pub(crate) fn main() {
        let all: [(&str, Fill); 5] = [
            ("getrandom(2)", getrandom),
            ("random_pseudo_bytes", pseudo),
            ("random_pseudo_u64", pseudo_word),
            ("headwater::fill", secure),
            ("xoshiro256pp, kept", kept),
        ];
        for (len, calls) in [(8, 100_000), (64, 50_000), (1024, 10_000), (65_536, 200)] {
            println!("\n{len} bytes: ns a call, one thread; two at once; times getrandom(2)");
            let cases: Vec<_> =
                all.iter().filter(|(name, _)| len == 8 || !name.ends_with("u64")).collect();
            let mut times = vec![[vec![], vec![]]; cases.len()];
            for round in 0..ROUNDS + 1 {
                for ((_, fill), [one, two]) in cases.iter().zip(&mut times) {
                    let calls = if *fill as usize == getrandom as Fill as usize {
                        calls / 20
                    } else {
                        calls
                    };
                    let (alone, beside) = (time(*fill, len, calls), time_twice(*fill, len, calls));
                    if round > 0 {
                        one.push(alone);
                        two.push(beside);
                    }
                }
            }
            let median = |times: &mut Vec<f64>| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            };
            let medians: Vec<[f64; 2]> =
                times.iter_mut().map(|pair| pair.each_mut().map(median)).collect();
            for ((name, _), [one, two]) in cases.iter().zip(&medians) {
                println!("  {name:22} {one:10.2} {two:10.2}   {:6.1}x", medians[0][0] / one);
            }
        }
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}
