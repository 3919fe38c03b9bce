//! Lists of numbers as bytes in the disk cache, which are copied as a whole: element by element would take several times as
//! long. For `#[serde(with = "number_list")]`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// A number of fixed width.
pub trait Number: Sized + Copy {
    /// Appends its bytes, lowest first.
    fn append(self, out: &mut Vec<u8>);
    /// The numbers of so many bytes; `None` when they are not a whole number of numbers.
    fn list(bytes: &[u8]) -> Option<Vec<Self>>;
}

macro_rules! number {
    ($type:ty, $width:literal) => {
        impl Number for $type {
            fn append(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn list(bytes: &[u8]) -> Option<Vec<Self>> {
                let (numbers, rest) = bytes.as_chunks::<$width>();
                rest.is_empty().then(|| numbers.iter().map(|bytes| Self::from_le_bytes(*bytes)).collect())
            }
        }
    };
}
number!(u8, 1);
number!(u32, 4);
number!(u64, 8);

/// Serializes a list as bytes.
pub fn serialize<S: Serializer, N: Number>(list: &[N], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(size_of_val(list));
    list.iter().for_each(|number| number.append(&mut bytes));
    serializer.serialize_bytes(&bytes)
}

/// Deserializes a list from bytes.
pub fn deserialize<'de, D: Deserializer<'de>, N: Number>(deserializer: D) -> Result<Vec<N>, D::Error> {
    let bytes = deserializer.deserialize_bytes(BorrowedBytes)?;
    N::list(bytes).ok_or_else(|| D::Error::custom("expected whole numbers"))
}

/// Borrows bytes from the input.
struct BorrowedBytes;

impl<'de> Visitor<'de> for BorrowedBytes {
    type Value = &'de [u8];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<&'de [u8], E> {
        Ok(bytes)
    }
}
