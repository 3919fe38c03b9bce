use std::sync::Arc;

use annai_services::clock::SystemClock;
use annai_services::store::Store as _;
use annai_services::store::postgres::{PostgresOptions, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::database::connect;
use crate::local_server::LocalServer;

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificate_of_the_server_is_checked_as_the_url_says() {
    needs_database!();
    let (trusted, other, key) = (authority(), authority(), KeyPair::generate().unwrap());
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &trusted).unwrap();
    let server = LocalServer::start(Some((&certificate.pem(), &key.serialize_pem())));
    let folder = crate::support::TempFolder::new();
    let write = |name: &str, pem: String| {
        let path = folder.0.join(name);
        std::fs::write(&path, pem).unwrap();
        path.display().to_string()
    };
    let (ours, theirs) = (write("trusted.pem", trusted.pem()), write("other.pem", other.pem()));
    let admin = connect(&server.url).await;
    let by_name = server.url.replace("127.0.0.1", "localhost");
    for (url, parameters, expected) in [
        (&server.url, "sslmode=disable".to_owned(), Some(false)),
        (&server.url, "sslmode=prefer".to_owned(), Some(true)),
        (&server.url, "sslmode=require".to_owned(), Some(true)),
        (&server.url, format!("sslmode=require&sslrootcert={theirs}"), None),
        (&server.url, format!("sslmode=verify-ca&sslrootcert={ours}"), Some(true)),
        (&server.url, format!("sslmode=verify-ca&sslrootcert={theirs}"), None),
        (&server.url, format!("sslmode=verify-full&sslrootcert={ours}"), None),
        (&by_name, format!("sslmode=verify-full&sslrootcert={ours}"), Some(true)),
        (&by_name, format!("sslmode=verify-full&sslrootcert={theirs}"), None),
        (&by_name, "sslmode=verify-full".to_owned(), None),
        (&by_name, "sslmode=verify-full&sslrootcert=/nothing".to_owned(), None),
    ] {
        let options = PostgresOptions::parse(&format!("{url}?{parameters}")).unwrap();
        let store = PostgresStore::new(options, Arc::new(SystemClock));
        let result = store.open().await;
        let Some(is_encrypted) = expected else {
            let error = result.unwrap_err();
            assert_eq!((error.status(), error.code()), (503, "unavailable"), "{parameters}: {error}");
            assert!(error.to_string().contains("secure connection"), "{parameters}: {error}");
            continue;
        };
        result.unwrap_or_else(|error| panic!("{parameters}: {error:?}"));
        let query = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a ON a.pid = s.pid
             WHERE a.application_name = 'annai'";
        assert_eq!(
            admin.query_one(query, &[]).await.unwrap().get::<_, bool>(0),
            is_encrypted,
            "{parameters}"
        );
        drop(store);
        // The connection is gone before the next one is looked at.
        let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'annai'";
        while admin.query_one(left, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}
