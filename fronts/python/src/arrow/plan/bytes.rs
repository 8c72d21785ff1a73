//! Plans as bytes: what pickles carry to other processes, and expressions to an engine's plugin.
//!
//! The bytes go from headwater to headwater, maybe of another version. So they begin with the
//! version of their form, and reading takes all of them or none: a plan that was half understood
//! would be a column of other numbers.

use super::{Given, Plan, What};
use headwater_arrow::Nulls;
use headwater_streams::kinds::{Dtype, Kind};
use headwater_streams::{Engine, Key};

/// The beginning: the name and the version of the form.
const MAGIC: &[u8; 8] = b"hwplan1\0";

impl Plan {
    /// Returns the bytes: the lowest byte of a number first, and lists after their lengths.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let key = self.stream.key();
        let engine = Engine::ALL.iter().position(|engine| *engine == key.engine());
        bytes.push(engine.unwrap_or(0) as u8);
        bytes.extend(key.to_raw());
        bytes.extend(self.stream.id().to_le_bytes());
        bytes.push(u8::from(self.nulls == Nulls::Refused));
        let reals = |bytes: &mut Vec<u8>, list: &[f64]| {
            bytes.extend((list.len() as u64).to_le_bytes());
            list.iter().for_each(|real| bytes.extend(real.to_le_bytes()));
        };
        match &self.what {
            What::Draw { kind, dtype, values } => {
                bytes.extend([0, *kind as u8, *dtype as u8, values.len() as u8]);
                for value in values {
                    match value {
                        Given::Real(real) => {
                            bytes.push(0);
                            bytes.extend(real.to_le_bytes());
                        }
                        Given::Count(count) => {
                            bytes.push(1);
                            bytes.extend(count.to_le_bytes());
                        }
                        Given::Integer(integer) => {
                            bytes.push(2);
                            bytes.extend(integer.to_le_bytes());
                        }
                        Given::Flag(flag) => bytes.extend([3, u8::from(*flag)]),
                        Given::Reals(list) => {
                            bytes.push(4);
                            reals(&mut bytes, list);
                        }
                        Given::Column => bytes.push(5),
                    }
                }
            }
            What::Sample(p) => {
                bytes.push(1);
                bytes.extend(p.to_le_bytes());
            }
            What::Equal(parts) => {
                bytes.push(2);
                bytes.extend(parts.to_le_bytes());
            }
            What::Shares(shares) => {
                bytes.push(3);
                reals(&mut bytes, shares);
            }
            What::Order => bytes.push(4),
        }
        bytes
    }

    /// Reads the bytes of [`encode`](Plan::encode), and nothing else.
    pub(in crate::arrow) fn decode(bytes: &[u8]) -> Option<Plan> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let engine = *Engine::ALL.get(usize::from(take::<1>(&mut rest)?[0]))?;
        let key = Key::from_raw(engine, take(&mut rest)?);
        let stream = key.stream(u64::from_le_bytes(take(&mut rest)?)).ok()?;
        let nulls = match take::<1>(&mut rest)? {
            [0] => Nulls::Kept,
            [1] => Nulls::Refused,
            _ => return None,
        };
        let what = match take::<1>(&mut rest)? {
            [0] => {
                let [kind, dtype, many] = take(&mut rest)?;
                let (kind, dtype) = (Kind::by_number(kind)?, Dtype::by_number(dtype)?);
                let values = (0..many).map(|_| value(&mut rest)).collect::<Option<_>>()?;
                What::Draw { kind, dtype, values }
            }
            [1] => What::Sample(f64::from_le_bytes(take(&mut rest)?)),
            [2] => What::Equal(u64::from_le_bytes(take(&mut rest)?)),
            [3] => What::Shares(reals(&mut rest)?),
            [4] => What::Order,
            _ => return None,
        };
        rest.is_empty().then_some(Plan { stream, nulls, what })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

fn value(rest: &mut &[u8]) -> Option<Given> {
    Some(match take::<1>(rest)? {
        [0] => Given::Real(f64::from_le_bytes(take(rest)?)),
        [1] => Given::Count(u64::from_le_bytes(take(rest)?)),
        [2] => Given::Integer(i128::from_le_bytes(take(rest)?)),
        [3] => Given::Flag(take::<1>(rest)? == [1]),
        [4] => Given::Reals(reals(rest)?),
        [5] => Given::Column,
        _ => return None,
    })
}

fn reals(rest: &mut &[u8]) -> Option<Vec<f64>> {
    let len = usize::try_from(u64::from_le_bytes(take(rest)?)).ok()?;
    let (list, tail) = rest.split_at_checked(len.checked_mul(8)?)?;
    *rest = tail;
    Some(list.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}
