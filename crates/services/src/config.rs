//! The `services` section of the configuration.

use std::collections::BTreeMap;

use annai_core::config::{EnvironmentVariable, Secret, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::address_range::AddressRange;
use crate::domain::email::Email;
use crate::domain::money::Cents;
use crate::store::postgres::DEFAULT_POOL_SIZE;

/// The keys that this crate owns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServicesSettings {
    /// Sponsored services.
    pub services: ServicesSection,
}

/// Sponsored services: their database, the keys of their REST routes, and their limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServicesSection {
    /// The URL of a PostgreSQL database, such as `postgres://user:password@host/name?sslmode=verify-full`, which several
    /// servers may share. Several hosts may be named, separated by commas; the one that accepts writes is used. Not set:
    /// the embedded database.
    pub database_url: Option<Secret>,
    /// The maximum number of connections of this server to PostgreSQL. Calls beyond them wait, and fail as unavailable after
    /// five seconds (`connect_timeout` of the URL). All servers together must stay below the database's
    /// `max_connections`.
    #[schemars(range(min = 1, max = 1000))]
    pub database_pool_size: usize,
    /// The file of the embedded SQLite database. It is created with the first use, for its owner alone. Default:
    /// `services.sqlite` in the user's data folder.
    pub database_path: Option<String>,
    /// The URL of another server that has the services, such as `https://backend.example.com`; a bare host name means https.
    /// The tools of this server then call its routes `/gpt/*` with the key `mcp_internal_api_key`, and this server has
    /// neither a database nor REST routes of its own. Not set: the services are in this process.
    pub backend_url: Option<String>,
    /// Whether `backend_url` may begin with `http://` for a server on another machine. Only where the network between them is
    /// private: the key and the sessions of people travel on it.
    pub allow_plain_backend: bool,
    /// The e-mail address of the development user: who calls the tools over stdio, or from this machine over HTTP, while
    /// no OAuth issuer is set. Not set: tools that need a person refuse such callers.
    pub dev_user: Option<String>,
    /// The origin on which a host such as ChatGPT displays the widgets of this server, exactly in the form that the host
    /// asks for. Not set: the host chooses.
    pub widget_domain: Option<String>,
    /// The key that clients of the routes `/gpt/*` send as `Authorization: Bearer KEY`. Without this key and
    /// `mcp_internal_api_key` the routes answer only to the owner of the machine.
    pub gpt_actions_api_key: Option<Secret>,
    /// The key with which another Annai server calls the routes `/gpt/*`. If it differs from `gpt_actions_api_key`, its
    /// requests are not limited in number, and may name the identity of a person in `/gpt/auth`.
    pub mcp_internal_api_key: Option<Secret>,
    /// The key with which sponsors create and change campaigns and sponsored APIs and read the dashboard. Without it only
    /// the owner of the machine may.
    pub sponsor_api_key: Option<Secret>,
    /// The maximum number of requests a minute of one client: a user, else a key with an address. Further requests are
    /// answered with status 429 until the minute is over.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub rate_limit_per_min: u32,
    /// The addresses of proxies in front of this server, as IP addresses or CIDR ranges. Only their `X-Forwarded-For`
    /// header is believed, and the client is its last address that is not a trusted proxy.
    pub trusted_proxies: Vec<AddressRange>,
    /// Whether the upstreams of sponsored APIs may have private addresses and `http://` URLs. Only for development, or
    /// where every sponsor is trusted: it opens the network of this server to them.
    pub allow_private_upstreams: bool,
    /// The least that a run of a tool of this server costs its sponsor, in US cents, by the name of the tool, such as
    /// `answer: 5`. Tools that are not named may cost nothing.
    pub tool_prices: BTreeMap<String, Cents>,
}

impl Default for ServicesSection {
    fn default() -> Self {
        Self {
            database_url: None,
            database_pool_size: DEFAULT_POOL_SIZE,
            database_path: None,
            backend_url: None,
            allow_plain_backend: false,
            dev_user: None,
            widget_domain: None,
            gpt_actions_api_key: None,
            mcp_internal_api_key: None,
            sponsor_api_key: None,
            rate_limit_per_min: 60,
            trusted_proxies: Vec::new(),
            allow_private_upstreams: false,
            tool_prices: BTreeMap::new(),
        }
    }
}

impl Settings for ServicesSettings {
    const ENV: &'static [EnvironmentVariable] = &[
        EnvironmentVariable::new("DATABASE_URL", "services.database_url"),
        EnvironmentVariable::new("DATABASE_POOL_SIZE", "services.database_pool_size"),
        EnvironmentVariable::new("SERVICES_DATABASE_PATH", "services.database_path"),
        EnvironmentVariable::new("RUST_BACKEND_URL", "services.backend_url"),
        EnvironmentVariable::new("ALLOW_PLAIN_BACKEND", "services.allow_plain_backend"),
        EnvironmentVariable::new("ANNAI_DEV_USER", "services.dev_user"),
        EnvironmentVariable::new("GPT_ACTIONS_API_KEY", "services.gpt_actions_api_key"),
        EnvironmentVariable::new("MCP_INTERNAL_API_KEY", "services.mcp_internal_api_key"),
        EnvironmentVariable::new("SPONSOR_API_KEY", "services.sponsor_api_key"),
        EnvironmentVariable::new("RATE_LIMIT_PER_MIN", "services.rate_limit_per_min"),
        EnvironmentVariable::new("TRUSTED_PROXIES", "services.trusted_proxies"),
        EnvironmentVariable::new("ALLOW_PRIVATE_UPSTREAMS", "services.allow_private_upstreams"),
    ];
}

impl ServicesSection {
    /// Replaces `~` at the beginning of the path of the database by the home folder. Shells do it, the settings of clients
    /// do not.
    pub fn expand_home(&mut self, home: Option<&str>) {
        let Some(home) = home.filter(|home| !home.is_empty()) else { return };
        let Some(path) = &mut self.database_path else { return };
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => *path = format!("{home}{rest}"),
            _ => {}
        }
    }

    /// Whether the owner of the machine can use tools that need a person: the development user has an e-mail address.
    #[must_use]
    pub fn has_development_user(&self) -> bool {
        self.dev_user.as_deref().is_some_and(|email| Email::parse(email).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use annai_core::config::{Config, ConfigError, ConfigSchema};

    use super::*;

    fn load(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let env = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        ConfigSchema::default().with_settings::<ServicesSettings>().load(None, &env, Vec::new())
    }

    #[test]
    fn environment_variables_set_every_key() {
        let config = load(&[
            ("DATABASE_URL", "postgres://localhost/annai"),
            ("DATABASE_POOL_SIZE", "40"),
            ("SERVICES_DATABASE_PATH", "~/services.sqlite"),
            ("RUST_BACKEND_URL", "backend.example.com"),
            ("ALLOW_PLAIN_BACKEND", "true"),
            ("ANNAI_DEV_USER", "me@example.com"),
            ("GPT_ACTIONS_API_KEY", "123"),
            ("MCP_INTERNAL_API_KEY", "internal"),
            ("SPONSOR_API_KEY", "sponsor"),
            ("RATE_LIMIT_PER_MIN", "120"),
            ("TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
            ("ALLOW_PRIVATE_UPSTREAMS", "true"),
        ])
        .unwrap();
        let mut section = config.get::<ServicesSettings>().unwrap().services;
        section.expand_home(Some("/home/me"));
        let expected = ServicesSection {
            database_url: Some(Secret::new("postgres://localhost/annai")),
            database_pool_size: 40,
            database_path: Some("/home/me/services.sqlite".into()),
            backend_url: Some("backend.example.com".into()),
            allow_plain_backend: true,
            dev_user: Some("me@example.com".into()),
            widget_domain: None,
            gpt_actions_api_key: Some(Secret::new("123")),
            mcp_internal_api_key: Some(Secret::new("internal")),
            sponsor_api_key: Some(Secret::new("sponsor")),
            rate_limit_per_min: 120,
            trusted_proxies: ["10.0.0.0/8", "::1"].map(|range| AddressRange::parse(range).unwrap()).into(),
            allow_private_upstreams: true,
            tool_prices: BTreeMap::new(),
        };
        assert_eq!(section, expected);
        let shown = config.show("1").to_string();
        assert!(!shown.contains("sponsor\"") && !shown.contains("postgres:"), "{shown}");
    }

    #[test]
    fn wrong_values_are_named_with_the_variable_that_set_them() {
        for (name, value, problem) in [
            ("RATE_LIMIT_PER_MIN", "0", "RATE_LIMIT_PER_MIN: expected an integer from 1 to 1000000"),
            ("DATABASE_POOL_SIZE", "0", "DATABASE_POOL_SIZE: expected an integer from 1 to 1000"),
            (
                "TRUSTED_PROXIES",
                "10.0.0.0/8,proxy",
                "TRUSTED_PROXIES: services.trusted_proxies[1]: must be an IP address or a CIDR range such as 10.0.0.0/8",
            ),
        ] {
            let error =
                load(&[(name, value)]).and_then(|config| config.get::<ServicesSettings>()).unwrap_err();
            assert_eq!(error.to_string(), problem);
        }
    }
}
