//! Why a request failed: a public sentence for each case, and a private cause.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use crate::guard::{ForbiddenAddress, LookupError};
use crate::limits::{MAX_HEADER_BYTES, MAX_HEADERS, MAX_KEY_BYTES, MAX_URL_BYTES};

/// The private cause of an error.
pub(crate) type Cause = Box<dyn StdError + Send + Sync>;

/// Why a target is refused or a request failed.
///
/// `Display` is a sentence that anybody may read: it contains no address, no URL and nothing that the upstream sent except
/// its status. `source()` and `Debug` are private; they may name addresses, but never a query string, a header value or a
/// body.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// The URL cannot be used.
    #[error(transparent)]
    Url(UrlProblem),
    /// A header cannot be used.
    #[error("the header {name:?} {problem}")]
    Header {
        /// The name of the header, at most 100 characters of it.
        name: String,
        /// What is wrong with it.
        problem: HeaderProblem,
    },
    /// The headers are too many or too long.
    #[error("the headers exceed the limit of {} headers or {} bytes", MAX_HEADERS, MAX_HEADER_BYTES)]
    HeadersTooLarge,
    /// The method is not one of [`crate::Method`].
    #[error("the method must be GET, POST, PUT or PATCH")]
    Method,
    /// The idempotency key cannot be sent in a header.
    #[error("the idempotency key must consist of 1 to {MAX_KEY_BYTES} printable ASCII characters")]
    IdempotencyKey,
    /// The host is or has an address that may not be connected to.
    #[error("the host of the URL does not have a public address")]
    ForbiddenAddress(#[source] ForbiddenAddress),
    /// The name of the host has no address.
    #[error("the host of the URL could not be found")]
    HostNotFound(#[source] LookupError),
    /// No connection could be made.
    #[error("the upstream could not be reached")]
    Unreachable(#[source] Cause),
    /// No encrypted connection could be made, for example because the certificate is not valid.
    #[error("no secure connection to the upstream could be made; its TLS certificate may be invalid")]
    Tls(#[source] Cause),
    /// The request took too long.
    #[error("the upstream did not answer completely within {limit:?}")]
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
    /// The upstream answered with a status other than 2xx.
    #[error("the upstream answered with the status {0}{hint}", hint = status_hint(*.0))]
    Status(u16),
    /// The reply is too large.
    #[error("the upstream's reply is larger than {limit} bytes")]
    TooLarge {
        /// The maximum size of a reply in bytes.
        limit: usize,
    },
    /// The connection ended before the reply was complete, or the reply is not valid HTTP.
    #[error("the upstream's reply was not complete")]
    Incomplete(#[source] Cause),
    /// The reply is not UTF-8 text, or it is compressed although nothing but plain text was accepted.
    #[error("the upstream's reply is not plain UTF-8 text")]
    NotText,
    /// TLS cannot be set up on this machine, usually because no root certificates are installed.
    #[error("this server cannot make secure connections; its log has the cause")]
    Setup(#[source] Cause),
}

/// What is wrong with a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    /// The text is not a URL.
    #[error("the URL is not valid; expected one such as https://api.example/v1")]
    Malformed,
    /// The text is too long.
    #[error("the URL is longer than {} bytes", MAX_URL_BYTES)]
    TooLong,
    /// The scheme is not `https`, nor `http` where that is allowed.
    #[error("the URL must start with https://")]
    Scheme,
    /// The URL contains a user name or a password.
    #[error("the URL must not contain a user name or password; use a header instead")]
    UserInfo,
}

/// What is wrong with a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderProblem {
    /// The name contains characters that are not allowed there.
    #[error("is not a valid header name")]
    InvalidName,
    /// The value contains characters that are not allowed there, such as line breaks.
    #[error("has a value with characters that a header cannot contain")]
    InvalidValue,
    /// The header is set by this program or belongs to the connection.
    #[error("cannot be set, because this server sets it or the connection needs it")]
    Reserved,
    /// The header was given before, perhaps with other capitals.
    #[error("is given twice")]
    Duplicate,
}

impl EgressError {
    /// The status that the upstream answered with, if it is the reason.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(*status),
            _ => None,
        }
    }

    /// The reason why no response head arrived.
    pub(crate) fn from_send(error: reqwest::Error, limit: Duration) -> Self {
        if let Some(lookup) = find_cause::<LookupError>(&error) {
            return lookup.clone().into();
        }
        // The URL may contain a secret in its query.
        let cause = error.without_url();
        if cause.is_timeout() {
            Self::TimedOut { limit }
        } else if find_cause::<rustls::Error>(&cause).is_some() {
            Self::Tls(cause.into())
        } else if cause.is_connect() {
            Self::Unreachable(cause.into())
        } else {
            Self::Incomplete(cause.into())
        }
    }

    /// The reason why the body did not arrive.
    pub(crate) fn from_body(error: reqwest::Error) -> Self {
        Self::Incomplete(error.without_url().into())
    }
}

impl From<LookupError> for EgressError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::Forbidden(address) => Self::ForbiddenAddress(address),
            LookupError::Failed(_) | LookupError::NoAddress => Self::HostNotFound(error),
        }
    }
}

const fn status_hint(status: u16) -> &'static str {
    match status {
        300..=399 => ", but redirects are not followed",
        _ => "",
    }
}

/// The first cause of this type.
fn find_cause<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an I/O error is the source of the error that it wraps, not that error itself.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = wrapped.map(|wrapped| wrapped as &(dyn StdError + 'static)).or_else(|| error.source());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_to_do() {
        for (error, sentence) in [
            (EgressError::Url(UrlProblem::Scheme), "the URL must start with https://"),
            (EgressError::Url(UrlProblem::TooLong), "the URL is longer than 2048 bytes"),
            (
                EgressError::Header { name: "Host".to_owned(), problem: HeaderProblem::Reserved },
                "the header \"Host\" cannot be set, because this server sets it or the connection needs it",
            ),
            (EgressError::HeadersTooLarge, "the headers exceed the limit of 50 headers or 16384 bytes"),
            (
                EgressError::TimedOut { limit: Duration::from_secs(12) },
                "the upstream did not answer completely within 12s",
            ),
            (EgressError::Status(500), "the upstream answered with the status 500"),
            (
                EgressError::Status(302),
                "the upstream answered with the status 302, but redirects are not followed",
            ),
            (EgressError::TooLarge { limit: 3 }, "the upstream's reply is larger than 3 bytes"),
        ] {
            assert_eq!(error.to_string(), sentence);
        }
    }

    #[test]
    fn causes_are_found_inside_io_errors() {
        let error = io::Error::other(io::Error::other(LookupError::NoAddress));
        assert!(matches!(find_cause::<LookupError>(&error), Some(LookupError::NoAddress)));
        assert!(find_cause::<rustls::Error>(&error).is_none());
    }
}
