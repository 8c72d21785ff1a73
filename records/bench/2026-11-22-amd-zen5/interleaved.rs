use std::hint::black_box as bb; use std::time::Instant; use rand::Rng as _; use std::sync::atomic::*;
fn t(f:&mut dyn FnMut(usize)->()) -> f64 { let n=20000; let a=Instant::now(); f(n); a.elapsed().as_nanos() as f64/n as f64 }
macro_rules! row { ($name:expr, $($l:expr => $e:expr),*) => {{ let mut best=[f64::MAX;8]; let mut med:Vec<Vec<f64>>=vec![vec![];8];
 for _ in 0..60 { let mut k=0; $( { let x=t(&mut |n| for _ in 0..n { bb($e); }); if x<best[k]{best[k]=x}; med[k].push(x); k+=1; let _=k; } )* }
 let mut k=0; print!("{:8}",$name); $( med[k].sort_by(|a,b|a.total_cmp(b)); print!(" {}={:.2}({:.2})",$l,best[k],med[k][30]); k+=1; let _=k; )* println!(); }} }
fn crowd(name:&str,n:usize,f:fn()->()) { let stop=AtomicBool::new(false); let total=AtomicU64::new(0); let a=Instant::now();
 std::thread::scope(|s|{ for _ in 0..n { s.spawn(||{ let mut c=0u64; while !stop.load(Ordering::Relaxed){ for _ in 0..256 {f();} c+=256;} total.fetch_add(c,Ordering::Relaxed);}); } std::thread::sleep(std::time::Duration::from_millis(1500)); stop.store(true,Ordering::Relaxed); });
 println!("crowd {n:3} {name:10} {:.1} M/s", total.load(Ordering::Relaxed) as f64/a.elapsed().as_secs_f64()/1e6); }
thread_local!{static R:std::cell::RefCell<headwater::Rng>=std::cell::RefCell::new(headwater::Rng::new().unwrap());}
fn main(){ let mut h=headwater::Rng::new().unwrap(); let mut bh=base::Rng::new().unwrap(); let mut r=rand::rng();
 println!("{:?}", headwater::status().mode);
 if std::env::args().nth(1).is_none() {
 row!("u64", "new"=>headwater::u64().unwrap(), "base"=>base::u64().unwrap(), "rng"=>h.next_u64(), "baserng"=>bh.next_u64(), "rand"=>rand::rng().next_u64(), "randheld"=>r.next_u64());
 macro_rules! fill { ($n:expr) => {{ let mut b=[0u8;$n]; let mut c=[0u8;$n]; let mut d=[0u8;$n]; let mut e=[0u8;$n]; let mut f=[0u8;$n];
  row!(stringify!($n), "new"=>headwater::fill(bb(&mut b)).unwrap(), "base"=>base::fill(bb(&mut c)).unwrap(), "rng"=>h.fill(bb(&mut d)).unwrap(), "baserng"=>bh.fill(bb(&mut e)).unwrap(), "rand"=>rand::rng().fill_bytes(bb(&mut f))); }} }
 fill!(16); fill!(32); fill!(64); fill!(100); fill!(256); fill!(1024); fill!(4096);
 headwater::init_with(headwater::Config::new().mode(headwater::Mode::Hedged)).unwrap(); base::init_with(base::Config::new().mode(base::Mode::Hedged)).unwrap(); println!("hedged");
 row!("u64", "new"=>headwater::u64().unwrap(), "base"=>base::u64().unwrap());
 fill!(16); fill!(64); fill!(256);
 headwater::init_with(headwater::Config::new().mode(headwater::Mode::Buffered)).unwrap(); base::init_with(base::Config::new().mode(base::Mode::Buffered)).unwrap();
 }
 for n in [1,2,16,64] { crowd("new",n,||{let mut b=[0u8;16]; headwater::fill(bb(&mut b)).unwrap();}); crowd("base",n,||{let mut b=[0u8;16]; base::fill(bb(&mut b)).unwrap();});
 crowd("owned",n,||{let mut b=[0u8;16]; R.with_borrow_mut(|r| r.fill(bb(&mut b)).unwrap());}); crowd("rand",n,||{let mut b=[0u8;16]; rand::rng().fill_bytes(bb(&mut b));}); }
 println!("{:#?}", headwater::status().counters); println!("{:#?}", base::status().counters);
}
