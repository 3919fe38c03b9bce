//! Proxies from the environment are not used.

use std::process::Stdio;

use super::server::{Server, client, post};

/// A request in a process whose environment names a proxy: run by the test below.
#[tokio::test]
#[ignore = "run by the test below in a process of its own"]
async fn request_beside_a_proxy() {
    let server = Server::replying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    assert_eq!(post(&client(), &server.url()).await.unwrap().text, "ok");
    assert_eq!(server.connections(), 1);
    // An ordinary client uses the proxy, which proves that the environment names it.
    let ordinary = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    assert_eq!(ordinary.get(server.url()).send().await.unwrap().status(), 418);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn the_environment_cannot_name_a_proxy() {
    let proxy = Server::replying("HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n").await;
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "suite::proxy::request_beside_a_proxy"]);
    command.env_remove("NO_PROXY").env_remove("no_proxy").env_remove("REQUEST_METHOD");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, format!("http://{}", proxy.address));
    }
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
    assert_eq!(proxy.connections(), 1);
}
