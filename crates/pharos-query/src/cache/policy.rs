//! Replacement policies (替换策略) for comparison (《搜索引擎——原理、技术与系统》§9.3).
//!
//! FIFO, LRU and LFU with decay are those of the literature, which chose LRU: LFU is slightly better but scans all
//! entries at each replacement. `WTinyLfu` is the policy of the response cache. [`replay`](super::replay) runs a log
//! through all of them.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use foldhash::fast::FixedState;
use moka::sync::Cache;

/// Decay factor of the literature (衰减因子), the best of its table 9-2.
pub const DECAY: f64 = 0.998;

/// A cache with a fixed number of entries and a replacement policy.
pub trait Policy<K, V>: Send {
    /// Returns the cached value.
    fn get(&mut self, key: &K) -> Option<V>;

    /// Inserts a value that is not cached.
    fn put(&mut self, key: K, value: V);
}

/// A replacement policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PolicyKind {
    /// Evicts the oldest entry.
    Fifo,
    /// Evicts the least recently used entry.
    Lru,
    /// Evicts the least frequently used entry; counts decay.
    LfuDecay(f64),
    /// The policy of the response cache.
    WTinyLfu,
}

impl PolicyKind {
    /// Returns all policies, with this decay for those that use one.
    pub fn all(decay: f64) -> [Self; 4] {
        [Self::Fifo, Self::Lru, Self::LfuDecay(decay), Self::WTinyLfu]
    }

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifo => "FIFO",
            Self::Lru => "LRU",
            Self::LfuDecay(_) => "LFU, decaying",
            Self::WTinyLfu => "W-TinyLFU",
        }
    }

    /// Creates an empty cache with `size` entries, at least one.
    pub fn cache<K, V>(self, size: usize) -> Box<dyn Policy<K, V>>
    where
        K: Eq + Hash + Clone + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        let size = size.max(1);
        match self {
            Self::Fifo => Box::new(Fifo { size, queue: VecDeque::new(), values: HashMap::default() }),
            Self::Lru => Box::new(Lru { size, now: 0, queue: VecDeque::new(), values: HashMap::default() }),
            Self::LfuDecay(decay) => {
                Box::new(LfuDecay { size, decay, slots: Vec::new(), places: HashMap::default() })
            }
            Self::WTinyLfu => {
                let cache = Cache::builder().max_capacity(size as u64);
                Box::new(WTinyLfu(cache.build_with_hasher(FixedState::default())))
            }
        }
    }
}

/// Returns η of formula (9-11): the time of a query with a cache relative to the time without, where `hit_rate` is p
/// and `memory` is Tm/Td, the time of a cached response relative to one from the index. For a small `memory` it is 1
/// − p (9-12).
pub fn eta(hit_rate: f64, memory: f64) -> f64 {
    hit_rate * memory + (1.0 - hit_rate)
}

/// First in, first out.
struct Fifo<K, V> {
    size: usize,
    queue: VecDeque<K>,
    values: HashMap<K, V, FixedState>,
}

impl<K: Eq + Hash + Clone + Send, V: Clone + Send> Policy<K, V> for Fifo<K, V> {
    fn get(&mut self, key: &K) -> Option<V> {
        self.values.get(key).cloned()
    }

    fn put(&mut self, key: K, value: V) {
        if self.values.insert(key.clone(), value).is_some() {
            return;
        }
        self.queue.push_back(key);
        if self.queue.len() > self.size
            && let Some(first) = self.queue.pop_front()
        {
            self.values.remove(&first);
        }
    }
}

/// Least recently used. The queue contains every use; only the last one of a key counts.
struct Lru<K, V> {
    size: usize,
    now: u64,
    queue: VecDeque<(K, u64)>,
    values: HashMap<K, (V, u64), FixedState>,
}

impl<K: Eq + Hash + Clone + Send, V: Clone + Send> Lru<K, V> {
    fn used(&mut self, key: K) {
        self.queue.push_back((key, self.now));
        if self.queue.len() > 8 * self.size {
            let values = &self.values;
            self.queue.retain(|(key, used)| values.get(key).is_some_and(|(_, last)| last == used));
        }
    }
}

impl<K: Eq + Hash + Clone + Send, V: Clone + Send> Policy<K, V> for Lru<K, V> {
    fn get(&mut self, key: &K) -> Option<V> {
        self.now += 1;
        let (value, used) = self.values.get_mut(key)?;
        *used = self.now;
        let value = value.clone();
        self.used(key.clone());
        Some(value)
    }

    fn put(&mut self, key: K, value: V) {
        self.now += 1;
        self.values.insert(key.clone(), (value, self.now));
        self.used(key);
        while self.values.len() > self.size
            && let Some((oldest, used)) = self.queue.pop_front()
        {
            if self.values.get(&oldest).is_some_and(|(_, last)| *last == used) {
                self.values.remove(&oldest);
            }
        }
    }
}

/// Least frequently used with decay. At each replacement all counts are multiplied by the factor, so that old uses
/// lose weight. That, and finding the minimum, scans all entries.
struct LfuDecay<K, V> {
    size: usize,
    decay: f64,
    slots: Vec<(K, V, f64)>,
    places: HashMap<K, usize, FixedState>,
}

impl<K: Eq + Hash + Clone + Send, V: Clone + Send> Policy<K, V> for LfuDecay<K, V> {
    fn get(&mut self, key: &K) -> Option<V> {
        let (_, value, count) = &mut self.slots[*self.places.get(key)?];
        *count += 1.0;
        Some(value.clone())
    }

    fn put(&mut self, key: K, value: V) {
        if let Some(place) = self.places.get(&key) {
            self.slots[*place].1 = value;
            return;
        }
        let mut place = self.slots.len();
        if place < self.size {
            self.slots.push((key.clone(), value, 1.0));
        } else {
            let mut least = f64::INFINITY;
            for (nth, (_, _, count)) in self.slots.iter_mut().enumerate() {
                *count *= self.decay;
                if *count < least {
                    (least, place) = (*count, nth);
                }
            }
            // NaN counts have no minimum.
            place = place.min(self.size - 1);
            let (old, ..) = std::mem::replace(&mut self.slots[place], (key.clone(), value, 1.0));
            self.places.remove(&old);
        }
        self.places.insert(key, place);
    }
}

/// A small LRU window in front of a main part, which a new entry enters only if it was used more often than the one
/// it replaces (Einziger, Friedman & Manes 2017). Implemented by moka.
struct WTinyLfu<K, V>(Cache<K, V, FixedState>);

impl<K, V> Policy<K, V> for WTinyLfu<K, V>
where
    K: Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    fn get(&mut self, key: &K) -> Option<V> {
        self.0.get(key)
    }

    fn put(&mut self, key: K, value: V) {
        self.0.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the hits (+) and misses (-) of a cache with two entries.
    fn hits(kind: PolicyKind, keys: &str) -> String {
        let mut cache = kind.cache::<char, char>(2);
        let hit = |key: char| match cache.get(&key) {
            Some(value) => {
                assert_eq!(value, key);
                '+'
            }
            None => {
                cache.put(key, key);
                '-'
            }
        };
        keys.chars().map(hit).collect()
    }

    #[test]
    fn each_policy_lets_another_one_go() {
        // When c arrives, a is the oldest, and b the least recently and least frequently used.
        assert_eq!(hits(PolicyKind::Fifo, "abacba"), "--+-+-");
        assert_eq!(hits(PolicyKind::Lru, "abaca"), "--+-+");
        assert_eq!(hits(PolicyKind::Lru, "abacb"), "--+--");
        assert_eq!(hits(PolicyKind::LfuDecay(1.0), "aaabcbcba"), "-++-----+");
        assert_eq!(hits(PolicyKind::LfuDecay(0.1), "aaabcbcba"), "-++---++-", "old uses have decayed");
    }

    #[test]
    fn eta_is_nearly_what_is_missed() {
        assert_eq!(eta(0.6, 0.0), 0.4);
        assert!((eta(0.6, 1.0 / 50.0) - 0.412).abs() < 1e-12);
        assert_eq!(eta(0.0, 0.5), 1.0);
    }

    proptest! {
        /// Compares with a linear list.
        #[test]
        fn lru_is_lru(keys in proptest::collection::vec(0u8..30, 0..500), size in 1usize..12) {
            let mut cache = PolicyKind::Lru.cache::<u8, u8>(size);
            let mut list: Vec<u8> = Vec::new();
            for key in keys {
                let place = list.iter().position(|known| *known == key);
                prop_assert_eq!(cache.get(&key).is_some(), place.is_some());
                match place {
                    Some(place) => { list.remove(place); }
                    None => cache.put(key, key),
                }
                list.push(key);
                if list.len() > size {
                    list.remove(0);
                }
            }
        }
    }
}
