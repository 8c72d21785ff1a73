use headwater_streams::Key;
use std::hint::black_box;
use std::time::Instant;
fn time(name: &str, per: f64, mut f: impl FnMut()) {
    let mut best = f64::MAX;
    let end = Instant::now() + std::time::Duration::from_millis(400);
    while Instant::now() < end {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    println!("{name:24} {:8.3} ns", best * 1e9 / per);
}
fn main() {
    let key = Key::from_seed(1);
    let s = key.stream(3).unwrap();
    let n = 32 << 10;
    let mut a: Vec<u64> = (0..n as u64).collect();
    time("shuffle 32Ki", n as f64, || s.shuffle(black_box(&mut a)));
    let mut b = vec![0u64; n];
    time("u64 fill", n as f64, || s.fill_u64(0, black_box(&mut b)).unwrap());
    time("bounded", n as f64, || s.fill_bounded_u64(1000, 0, black_box(&mut b)).unwrap());
    let mut c = vec![0f64; n];
    time("normal", n as f64, || s.fill_normal_f64(0, black_box(&mut c)).unwrap());
    time("exp", n as f64, || s.fill_exponential_f64(0, black_box(&mut c)).unwrap());
    let idx: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e3779b97f4a7c15) >> 20).collect();
    time("u64_at scattered", n as f64, || s.u64_at(&idx, black_box(&mut b)).unwrap());
    time("f64_at scattered", n as f64, || s.f64_at(&idx, black_box(&mut c)).unwrap());
    time("normal_at scattered", n as f64, || s.normal_f64_at(&idx, black_box(&mut c)).unwrap());
    time("bounded_at scattered", n as f64, || {
        s.bounded_u64_at(1000, &idx, black_box(&mut b)).unwrap()
    });
    time("child", 1000.0, || {
        for i in 0..1000u64 {
            black_box(key.child(black_box(i)));
        }
    });
    time("child text", 1000.0, || {
        for _ in 0..1000u64 {
            black_box(key.child(black_box("noise")));
        }
    });
    // swaps alone
    let mut x = 1u64;
    let js: Vec<u32> = (0..n as u32)
        .map(|i| {
            x = x.wrapping_mul(0xDA942042E4DD58B5).wrapping_add(7);
            (((x >> 32) * (n as u64 - i as u64)) >> 32) as u32
        })
        .collect();
    time("swaps alone", n as f64, || {
        let a = black_box(&mut a);
        for (k, &j) in js.iter().enumerate() {
            let i = n - 1 - k;
            unsafe {
                let p = a.as_mut_ptr();
                core::ptr::swap(p.add(i), p.add(j as usize));
            }
        }
    });
}
