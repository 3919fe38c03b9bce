//! An OpenID provider for benchmarks.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// The audience of its tokens.
pub const AUDIENCE: &str = "https://annai.example";

/// An OpenID provider with one key. Its algorithm is ES256, the slowest of those that issuers commonly use.
pub struct Issuer {
    /// Its URL, which is also its name.
    pub url: String,
    key: EcdsaKeyPair,
}

impl Issuer {
    /// Serves its documents for as long as the runtime lives.
    pub fn start(runtime: &tokio::runtime::Runtime) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random);
        let key = key.expect("a key");
        let (x, y) = key.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        let jwk =
            json!({ "kty": "EC", "crv": "P-256", "kid": "1", "alg": "ES256", "use": "sig", "x": x, "y": y });
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let document = json!({ "issuer": url, "jwks_uri": format!("{url}/jwks") });
        let routes = axum::Router::new()
            .route("/.well-known/openid-configuration", get(async move || Json(document)))
            .route("/jwks", get(async move || Json(json!({ "keys": [jwk] }))));
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Self { url, key }
    }

    /// A token that is valid for an hour, with these claims besides the usual ones.
    pub fn token(&self, more: &Value) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
        let mut claims = json!({ "iss": self.url, "sub": "bench", "aud": AUDIENCE, "exp": now + 3600 });
        let more = more.as_object().expect("claims").clone();
        claims.as_object_mut().expect("claims").extend(more);
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed =
            format!("{}.{}", part(&json!({ "alg": "ES256", "kid": "1", "typ": "at+jwt" })), part(&claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}
