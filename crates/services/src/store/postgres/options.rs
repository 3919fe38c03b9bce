//! Where the database is, and how patiently it is waited for.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use crate::domain::text::Problem;
use crate::store::Migration;

/// When the library begins to look whether an idle connection is alive, unless the URL says otherwise. Firewalls forget
/// connections long before.
const LIBRARY_KEEPALIVES_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// The maximum number of connections of one process. Sixteen keep two processors of the server busy, and three replicas stay
/// below the hundred connections that PostgreSQL allows by default.
pub const DEFAULT_POOL_SIZE: usize = 16;

/// How the server's certificate is checked. The names and meanings are those of libpq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsTrust {
    /// Any certificate is accepted: the connection is encrypted, but whoever answers may be anybody (`prefer`, `require`).
    Anybody,
    /// The certificate must be issued by a trusted authority, for whatever name (`verify-ca`).
    Authority(TrustedRoots),
    /// The certificate must be issued by a trusted authority for the name of the host (`verify-full`).
    AuthorityAndName(TrustedRoots),
}

/// Which authorities are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustedRoots {
    /// Those of the operating system.
    System,
    /// Those in a PEM file (`sslrootcert`).
    File(PathBuf),
}

/// A PostgreSQL database, the number of connections to it, and the time-outs.
#[derive(Clone)]
pub struct PostgresOptions {
    pub(super) config: Config,
    pub(super) trust: TlsTrust,
    /// The maximum number of connections of this process. Further use cases wait.
    pub pool_size: usize,
    /// How long a use case waits for a free connection, and for a new connection to one host.
    pub connect_timeout: Duration,
    /// How long the server works on one statement. Use cases take milliseconds; beyond this the server is in trouble.
    pub statement_timeout: Duration,
    /// How long one statement waits for other transactions.
    pub lock_timeout: Duration,
    /// How long a use case takes in all, for connections that are open but silent. Beyond it the connection is given up.
    pub use_case_timeout: Duration,
    /// How long the migration may take, including the time that it waits for those of other replicas.
    pub migration_timeout: Duration,
    /// What happens to tables that are missing or old.
    pub migration: Migration,
}

impl PostgresOptions {
    /// The database of a URL such as `postgres://user:password@host1,host2/name?sslmode=verify-full`. All parameters of
    /// `tokio-postgres` are understood, and the six values of `sslmode` with `sslrootcert` as libpq does.
    ///
    /// # Errors
    ///
    /// The URL cannot be understood. The problem does not repeat it, because it contains a password.
    pub fn parse(url: &str) -> Result<Self, Problem> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(Problem::new("must be a URL such as postgres://user:password@host/name"));
        }
        let (url, tls) = take_tls_parameters(url)?;
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            Problem::new(format!(
                "must be the URL of a PostgreSQL database: {}",
                cause.unwrap_or_else(|| error.to_string())
            ))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Problem::new("must name the host of the database"));
        }
        // A standby cannot be written to. With several hosts, the one that is the primary at present is found by this.
        if config.get_target_session_attrs() == TargetSessionAttrs::Any {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if config.get_application_name().is_none() {
            config.application_name("annai");
        }
        let connect_timeout = config.get_connect_timeout().copied().unwrap_or(Duration::from_secs(5));
        config.connect_timeout(connect_timeout);
        // A host that vanishes without a word is noticed by the operating system, also between use cases.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(10));
        }
        if config.get_keepalives_idle() == LIBRARY_KEEPALIVES_IDLE {
            config.keepalives_idle(Duration::from_secs(30));
        }
        let trust = tls.apply(&mut config)?;
        Ok(Self {
            config,
            trust,
            pool_size: DEFAULT_POOL_SIZE,
            connect_timeout,
            statement_timeout: Duration::from_secs(10),
            lock_timeout: Duration::from_secs(5),
            use_case_timeout: Duration::from_secs(20),
            migration_timeout: Duration::from_secs(10 * 60),
            migration: Migration::Apply,
        })
    }

    /// The host, port and name of the database, without user and password, for messages.
    #[must_use]
    pub fn address(&self) -> String {
        use tokio_postgres::config::Host;
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        let hosts = hosts.collect::<Vec<_>>().join(",");
        format!("{hosts}/{}", self.config.get_dbname().unwrap_or_default())
    }
}

/// The parameters of the URL that `tokio-postgres` does not know.
#[derive(Debug, Default)]
struct TlsParameters {
    mode: Option<String>,
    root_certificate: Option<String>,
}

/// Takes the parameters about TLS out of a URL.
fn take_tls_parameters(url: &str) -> Result<(String, TlsParameters), Problem> {
    let Some((base, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), TlsParameters::default()));
    };
    let (mut tls, mut rest) = (TlsParameters::default(), Vec::new());
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", mode)) => tls.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => tls.root_certificate = Some(percent_decoded(path)?),
            _ => rest.push(parameter),
        }
    }
    Ok((format!("{base}?{}", rest.join("&")).trim_end_matches('?').to_owned(), tls))
}

fn percent_decoded(text: &str) -> Result<String, Problem> {
    let wrong = || Problem::new("has an sslrootcert that is not percent-encoded text");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(wrong()) };
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| wrong())?);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

impl TlsParameters {
    /// Sets whether the connection is encrypted, and returns how the certificate is checked.
    fn apply(self, config: &mut Config) -> Result<TlsTrust, Problem> {
        let has_roots = self.root_certificate.is_some();
        let roots = match self.root_certificate.as_deref() {
            None | Some("system") => TrustedRoots::System,
            Some(path) => TrustedRoots::File(PathBuf::from(path)),
        };
        let (mode, trust) = match self.mode.as_deref().unwrap_or("prefer") {
            "disable" => (SslMode::Disable, TlsTrust::Anybody),
            "allow" | "prefer" => (SslMode::Prefer, TlsTrust::Anybody),
            // As with libpq: whoever names an authority wants it checked.
            "require" if has_roots => (SslMode::Require, TlsTrust::Authority(roots)),
            "require" => (SslMode::Require, TlsTrust::Anybody),
            "verify-ca" => (SslMode::Require, TlsTrust::Authority(roots)),
            "verify-full" => (SslMode::Require, TlsTrust::AuthorityAndName(roots)),
            _ => {
                return Err(Problem::new(
                    "has an unknown sslmode; use disable, allow, prefer, require, verify-ca or verify-full",
                ));
            }
        };
        config.ssl_mode(mode);
        Ok(trust)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_modes_and_time_outs_of_the_url_are_honoured() {
        let options = PostgresOptions::parse(
            "postgres://me:se%40cret@db1:6000,db2/annai?sslmode=verify-full&sslrootcert=/a%20b.pem&connect_timeout=3",
        )
        .unwrap();
        assert_eq!(options.config.get_hosts().len(), 2);
        assert_eq!(options.config.get_ports(), [6000, 5432]);
        assert_eq!(options.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(options.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(options.config.get_password(), Some(&b"se@cret"[..]));
        assert_eq!(options.connect_timeout, Duration::from_secs(3));
        assert_eq!(options.trust, TlsTrust::AuthorityAndName(TrustedRoots::File("/a b.pem".into())));
        assert_eq!(options.address(), "db1,db2/annai");
    }

    #[test]
    fn the_certificate_is_checked_as_libpq_does() {
        let system = || TrustedRoots::System;
        for (parameters, mode, trust) in [
            ("", SslMode::Prefer, TlsTrust::Anybody),
            ("?sslmode=disable", SslMode::Disable, TlsTrust::Anybody),
            ("?sslmode=require", SslMode::Require, TlsTrust::Anybody),
            ("?sslmode=require&sslrootcert=system", SslMode::Require, TlsTrust::Authority(system())),
            ("?sslmode=verify-ca", SslMode::Require, TlsTrust::Authority(system())),
            ("?sslmode=verify-full", SslMode::Require, TlsTrust::AuthorityAndName(system())),
        ] {
            let options = PostgresOptions::parse(&format!("postgresql://h/d{parameters}")).unwrap();
            assert_eq!((options.config.get_ssl_mode(), options.trust), (mode, trust), "{parameters}");
        }
    }

    #[test]
    fn wrong_urls_are_refused_without_their_password() {
        for wrong in [
            "mysql://me:secret@h/d",
            "postgres://",
            "postgres://me:secret@h:port/d",
            "postgres://me:secret@h/d?sslmode=maybe",
            "postgres://me:secret@h/d?sslrootcert=%f",
            "postgres://me:secret@h/d?nonsense=1",
        ] {
            let problem = PostgresOptions::parse(wrong).err().unwrap().to_string();
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}
