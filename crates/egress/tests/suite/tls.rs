//! Encrypted connections.

use std::net::SocketAddr;
use std::sync::Arc;

use annai_egress::{EgressClient, EgressError, Network};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::server::{Server, client, post, post_error, read_request, settings};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A certificate authority of a test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key.
pub struct ServerCertificate {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// The root certificate, in DER.
    pub fn root(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    pub fn certificate_for(&self, host: &str) -> ServerCertificate {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().into();
        ServerCertificate { certificate, key }
    }
}

/// How a server ends a connection.
#[derive(Clone, Copy)]
enum Ending {
    CloseNotify,
    Abrupt,
}

/// An HTTPS server that sends the same reply to every request.
pub struct TlsServer(Server);

impl TlsServer {
    pub async fn start(certificate: &ServerCertificate) -> Self {
        Self::replying(certificate, OK, Ending::CloseNotify).await
    }

    async fn replying(certificate: &ServerCertificate, reply: &'static str, ending: Ending) -> Self {
        let key = PrivateKeyDer::try_from(certificate.key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.certificate.clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self(
            Server::start(move |stream| {
                let acceptor = acceptor.clone();
                async move {
                    let mut stream = acceptor.accept(stream).await?;
                    read_request(&mut stream).await?;
                    stream.write_all(reply.as_bytes()).await?;
                    match ending {
                        Ending::CloseNotify => stream.shutdown().await,
                        Ending::Abrupt => {
                            stream.flush().await?;
                            stream.get_mut().0.shutdown().await
                        }
                    }
                }
            })
            .await,
        )
    }

    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    fn url(&self) -> String {
        self.0.url().replace("http:", "https:")
    }
}

/// A client that trusts this authority only.
fn trusting(authority: &Authority) -> EgressClient {
    let network = Network { trusted_roots: Some(vec![authority.root()]), ..Network::default() };
    EgressClient::with_network(settings(), network)
}

#[tokio::test]
async fn only_a_trusted_certificate_for_the_host_is_accepted() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = TlsServer::start(&authority.certificate_for("127.0.0.1")).await;
    assert_eq!(post(&trusting(&authority), &server.url()).await.unwrap().text, "ok");
    let error = post_error(&trusting(&other), &server.url()).await;
    assert!(matches!(error, EgressError::Tls(_)), "{error:?}");
    let misnamed = TlsServer::start(&authority.certificate_for("upstream.test")).await;
    let error = post_error(&trusting(&authority), &misnamed.url()).await;
    assert!(matches!(error, EgressError::Tls(_)), "{error:?}");
}

#[tokio::test]
async fn a_self_signed_certificate_is_refused() {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap().into();
    let server = TlsServer::start(&ServerCertificate { certificate, key }).await;
    let error = post_error(&client(), &server.url()).await;
    // A machine without root certificates trusts nobody either.
    assert!(matches!(error, EgressError::Tls(_) | EgressError::Setup(_)), "{error:?}");
}

#[tokio::test]
async fn a_server_without_tls_is_refused() {
    let server = Server::start(async |mut stream| {
        stream.write_all(OK.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    let error = post_error(&trusting(&Authority::new()), &server.url().replace("http:", "https:")).await;
    assert!(matches!(error, EgressError::Tls(_)), "{error:?}");
}

#[tokio::test]
async fn without_a_length_the_end_must_be_announced() {
    let authority = Authority::new();
    let certificate = authority.certificate_for("127.0.0.1");
    let reply = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok";
    let server = TlsServer::replying(&certificate, reply, Ending::CloseNotify).await;
    assert_eq!(post(&trusting(&authority), &server.url()).await.unwrap().text, "ok");
    let server = TlsServer::replying(&certificate, reply, Ending::Abrupt).await;
    let error = post_error(&trusting(&authority), &server.url()).await;
    assert!(matches!(error, EgressError::Incomplete(_)), "{error:?}");
}

#[tokio::test]
async fn invalid_root_certificates_are_reported() {
    let network = Network { trusted_roots: Some(vec![b"nonsense".to_vec()]), ..Network::default() };
    let client = EgressClient::with_network(settings(), network);
    let error = post_error(&client, "https://127.0.0.1:1/").await;
    assert!(matches!(error, EgressError::Setup(_)), "{error:?}");
}
