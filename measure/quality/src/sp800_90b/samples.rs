//! Samples of a noise source as the assessments see them.

/// Samples, a byte each, and what they are made of.
pub(crate) struct Samples {
    /// Symbols without gaps, in the order of the samples: numbers below `symbols`.
    pub(super) dense: Vec<u8>,
    /// The sample that each symbol stands for.
    pub(super) values: Vec<u8>,
    /// Number of different samples.
    pub(super) symbols: usize,
    /// Bits of a sample: the low ones that any sample sets.
    pub(super) width: u32,
}

impl Samples {
    pub(crate) fn new(mut samples: Vec<u8>) -> Samples {
        let used = samples.iter().fold(0, |used, sample| used | sample);
        let mut present = [false; 256];
        samples.iter().for_each(|&sample| present[usize::from(sample)] = true);
        let values: Vec<u8> = (0..=255).filter(|&value| present[usize::from(value)]).collect();
        let mut numbers = [0; 256];
        values
            .iter()
            .zip(0..=255)
            .for_each(|(&value, number)| numbers[usize::from(value)] = number);
        samples.iter_mut().for_each(|sample| *sample = numbers[usize::from(*sample)]);
        let width = (8 - used.leading_zeros()).max(1);
        Samples { dense: samples, symbols: values.len(), values, width }
    }

    pub(super) fn len(&self) -> usize {
        self.dense.len()
    }

    /// Returns the bits of the first `first` samples, the highest bit of a sample first.
    pub(super) fn bits(&self, first: usize) -> Vec<u8> {
        let mut bits = Vec::with_capacity(first.min(self.len()) * self.width as usize);
        for &symbol in self.dense.iter().take(first) {
            let sample = self.values[usize::from(symbol)];
            bits.extend((0..self.width).rev().map(|place| sample >> place & 1));
        }
        bits
    }

    /// Returns the number of samples of each symbol.
    pub(super) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.symbols];
        self.dense.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
        counts
    }
}
