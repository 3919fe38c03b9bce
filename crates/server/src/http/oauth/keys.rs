//! The public keys of an issuer, as its JWKS document lists them. Only keys that may verify signatures are kept.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

/// The maximum number of keys that are kept. Issuers publish two to five; the rest of a longer list is ignored.
const MAX_KEYS: usize = 64;

/// A signature algorithm that is accepted. All are asymmetric: a symmetric one could be used with a public key as its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    /// The algorithm with this name in a token's header; `None` if it is not accepted. Names are case-sensitive.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" => Self::EdDsa,
            _ => return None,
        })
    }
}

/// A public key that verifies signatures.
#[derive(Debug)]
pub struct VerificationKey {
    /// The only algorithm that the issuer uses the key with, if it says so.
    algorithm: Option<Algorithm>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl VerificationKey {
    /// Whether the signature is this key's. RSA keys of less than 2048 bits verify nothing.
    pub fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if self.algorithm.is_some_and(|only| only != algorithm) {
            return false;
        }
        let rsa = |n: &[u8], e: &[u8], parameters| {
            RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
        };
        let other = |key: &[u8], algorithm: &'static dyn signature::VerificationAlgorithm| {
            UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok()
        };
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, Algorithm::Rs256) => rsa(n, e, &signature::RSA_PKCS1_2048_8192_SHA256),
            (Material::Rsa { n, e }, Algorithm::Rs384) => rsa(n, e, &signature::RSA_PKCS1_2048_8192_SHA384),
            (Material::Rsa { n, e }, Algorithm::Rs512) => rsa(n, e, &signature::RSA_PKCS1_2048_8192_SHA512),
            (Material::Rsa { n, e }, Algorithm::Ps256) => rsa(n, e, &signature::RSA_PSS_2048_8192_SHA256),
            (Material::Rsa { n, e }, Algorithm::Ps384) => rsa(n, e, &signature::RSA_PSS_2048_8192_SHA384),
            (Material::Rsa { n, e }, Algorithm::Ps512) => rsa(n, e, &signature::RSA_PSS_2048_8192_SHA512),
            (Material::P256(key), Algorithm::Es256) => other(key, &signature::ECDSA_P256_SHA256_FIXED),
            (Material::P384(key), Algorithm::Es384) => other(key, &signature::ECDSA_P384_SHA384_FIXED),
            (Material::Ed25519(key), Algorithm::EdDsa) => other(key, &signature::ED25519),
            _ => false,
        }
    }
}

/// The keys of an issuer, by key id.
#[derive(Debug, Default)]
pub struct KeySet(HashMap<String, Vec<VerificationKey>>);

impl KeySet {
    /// Reads a JWKS document. Keys that cannot verify signatures are left out, as RFC 7517 asks: other kinds of keys may
    /// stand beside them.
    ///
    /// # Errors
    ///
    /// It is not a JWKS document.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        let document: KeyDocument = serde_json::from_slice(json)?;
        let mut keys = HashMap::new();
        for value in document.keys.into_iter().take(MAX_KEYS) {
            let Ok(jwk) = serde_json::from_value::<Jwk>(value) else { continue };
            let Some(kid) = jwk.kid.clone() else { continue };
            if let Some(key) = jwk.into_key() {
                keys.entry(kid).or_insert_with(Vec::new).push(key);
            }
        }
        Ok(Self(keys))
    }

    /// The keys with this id; most often one.
    pub fn get(&self, kid: &str) -> Option<&[VerificationKey]> {
        self.0.get(kid).map(Vec::as_slice)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

#[derive(Deserialize)]
struct KeyDocument {
    keys: Vec<Value>,
}

/// One entry of a JWKS document (RFC 7517, RFC 7518).
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Jwk {
    /// The key, if it may verify signatures with an accepted algorithm.
    fn into_key(self) -> Option<VerificationKey> {
        let for_signatures = self.usage.as_deref().is_none_or(|usage| usage == "sig")
            && self.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|name| name == "verify"));
        if !for_signatures {
            return None;
        }
        let algorithm = match &self.alg {
            Some(name) => Some(Algorithm::of_name(name)?),
            None => None,
        };
        let material = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => {
                // JWKS documents exist whose numbers begin with a zero byte; the verification does not accept those.
                let number = |text: &Option<String>| {
                    let bytes = decode(text)?;
                    let start = bytes.iter().position(|byte| *byte != 0)?;
                    bytes.get(start..).map(<[u8]>::to_vec)
                };
                Material::Rsa { n: number(&self.n)?, e: number(&self.e)? }
            }
            ("EC", Some("P-256")) => Material::P256(point(&self.x, &self.y, 32)?),
            ("EC", Some("P-384")) => Material::P384(point(&self.x, &self.y, 48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(decode(&self.x)?),
            _ => return None,
        };
        Some(VerificationKey { algorithm, material })
    }
}

fn decode(text: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.as_ref()?).ok()
}

/// An uncompressed point of a curve whose coordinates have `size` bytes.
fn point(x: &Option<String>, y: &Option<String>, size: usize) -> Option<Vec<u8>> {
    let (x, y) = (decode(x)?, decode(y)?);
    (x.len() == size && y.len() == size).then(|| [&[4], x.as_slice(), y.as_slice()].concat())
}
