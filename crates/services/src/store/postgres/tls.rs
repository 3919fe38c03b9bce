//! Encrypted connections: rustls with ring, and the checks of the certificate that the URL asks for.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::{TlsTrust, TrustedRoots};

/// Why no encrypted connection can be made at all.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the certificates of sslrootcert cannot be read: {0}")]
    Roots(String),
    #[error("no trusted certificates were found")]
    NoRoots,
    #[error(transparent)]
    Tls(#[from] Error),
    #[error(transparent)]
    Verifier(#[from] rustls::client::VerifierBuilderError),
}

/// The connector for a way of trusting the server.
pub fn connector(trust: &TlsTrust) -> Result<MakeRustlsConnect, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let verifier = match trust {
        TlsTrust::AuthorityAndName(roots) => {
            return Ok(MakeRustlsConnect::new(
                builder.with_root_certificates(load(roots)?).with_no_client_auth(),
            ));
        }
        TlsTrust::Authority(roots) => {
            let verifier =
                WebPkiServerVerifier::builder_with_provider(Arc::new(load(roots)?), provider.clone());
            LenientVerifier { provider, authority: Some(verifier.build()?) }
        }
        TlsTrust::Anybody => LenientVerifier { provider, authority: None },
    };
    let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn load(roots: &TrustedRoots) -> Result<RootCertStore, TlsError> {
    let certificates = match roots {
        // Certificates of the system that cannot be read are left out, as everywhere.
        TrustedRoots::System => rustls_native_certs::load_native_certs().certs,
        TrustedRoots::File(path) => {
            let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
            certificates.map_err(|error| TlsError::Roots(format!("{}: {error}", path.display())))?
        }
    };
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    if store.is_empty() { Err(TlsError::NoRoots) } else { Ok(store) }
}

/// Checks less than rustls does by itself, because the operator's `sslmode` asks for less: the authority but not the name,
/// or nothing. Signatures of the handshake are checked in any case.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    authority: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        // The name is checked last, so an error about it means that the authority is trusted.
        match authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
