//! Values that look random and are the same in every leg: a hash of the execution's seed and the
//! key, so that one more of them changes no other.

use sha2::{Digest, Sha256};

/// 128 bits of `purpose` and `key` for the execution with the seed `seed`.
pub(super) fn bits(seed: &str, purpose: &str, key: &str) -> u128 {
    let mut hash = Sha256::new();
    for part in [seed, purpose, key] {
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    hash.iter()
        .take(size_of::<u128>())
        .fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let one = bits("seed", "uuid", "key");
        assert_eq!(one, bits("seed", "uuid", "key"));
        for other in [
            bits("seed2", "uuid", "key"),
            bits("seed", "random", "key"),
            bits("seed", "uuid", "key#2"),
            bits("see", "duuid", "key"),
        ] {
            assert_ne!(one, other);
        }
    }
}
