//! A network between the store and the server that tests can cut.

use std::net::SocketAddr;

use annai_services::store::postgres::PostgresOptions;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::database::{TestDatabase, server_url};

/// What the network does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// It carries everything.
    Up,
    /// It ends all connections and refuses new ones.
    Down,
    /// It carries nothing and says nothing.
    Silent,
}

/// A proxy in front of the server.
pub struct Proxy {
    address: SocketAddr,
    network: watch::Sender<Network>,
}

impl Proxy {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (network, state) = watch::channel(Network::Up);
        let authority = server_url().rsplit_once('@').unwrap().1.split('/').next().unwrap().to_owned();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(carry(stream, authority.clone(), state.clone()));
            }
        });
        Self { address, network }
    }

    pub fn set(&self, network: Network) {
        self.network.send_replace(network);
    }

    /// How a store reaches the database through the proxy.
    pub fn options(&self, database: &TestDatabase) -> PostgresOptions {
        let url = format!("postgres://annai@{}/{}", self.address, database.name);
        let mut options = PostgresOptions::parse(&url).unwrap();
        options.pool_size = 8;
        options
    }
}

async fn carry(mut client: TcpStream, server: String, mut state: watch::Receiver<Network>) {
    let first = *state.borrow_and_update();
    if first == Network::Down {
        return;
    }
    let mut server = TcpStream::connect(server).await.unwrap();
    loop {
        let current = *state.borrow_and_update();
        match current {
            Network::Up => tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut client, &mut server) => return,
                _ = state.changed() => {}
            },
            Network::Silent => {
                if state.changed().await.is_err() {
                    return;
                }
            }
            Network::Down => {
                let _ = client.shutdown().await;
                return;
            }
        }
    }
}
