//! A network of its own: a server and clients with real, different addresses, each in a network namespace. Only root can
//! make one, with `ip` of iproute2.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use rustix::net::{AddressFamily, SocketType};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A server's namespace and those of its clients. Client `n` reaches the server at [`Network::server_v4`] and
/// [`Network::server_v6`], and has the addresses `.2` and `::2` of the same networks, and `::3` besides.
pub struct Network {
    name: String,
    clients: u8,
}

impl Network {
    /// Makes a network with so many clients; `None`, with a message, where that is not permitted.
    pub fn new(clients: u8) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let network = Self { name: format!("annai-{}-{number}", std::process::id()), clients };
        let made = network.make();
        if let Err(problem) = &made {
            eprintln!("SKIPPED: this test needs root, network namespaces and `ip` of iproute2: {problem}");
        }
        made.ok().map(|()| network)
    }

    fn make(&self) -> Result<(), String> {
        let server = self.server();
        ip(&["netns", "add", &server])?;
        ip(&["-n", &server, "link", "set", "lo", "up"])?;
        for client in 0..self.clients {
            let (name, device) = (self.client(client), format!("to{client}"));
            ip(&["netns", "add", &name])?;
            let link =
                ["link", "add", "name", &device, "type", "veth", "peer", "name", "eth0", "netns", &name];
            ip(&[&["-n", &server][..], &link].concat())?;
            let (v4, v6) = (self.server_v4(client), self.server_v6(client));
            add_address(&server, &device, v4, 24)?;
            add_address(&server, &device, v6, 64)?;
            add_address(&name, "eth0", self.client_v4(client), 24)?;
            for address in [2, 3] {
                add_address(&name, "eth0", self.client_v6(client, address), 64)?;
            }
            ip(&["-n", &server, "link", "set", &device, "up"])?;
            ip(&["-n", &name, "link", "set", "eth0", "up"])?;
        }
        Ok(())
    }

    fn server(&self) -> String {
        format!("{}-s", self.name)
    }

    fn client(&self, client: u8) -> String {
        format!("{}-{client}", self.name)
    }

    /// The address at which a client reaches the server over IPv4.
    pub fn server_v4(&self, client: u8) -> IpAddr {
        Ipv4Addr::new(10, 77, client, 1).into()
    }

    /// The address at which a client reaches the server over IPv6.
    pub fn server_v6(&self, client: u8) -> IpAddr {
        Ipv6Addr::new(0xfd77, 0, 0, client.into(), 0, 0, 0, 1).into()
    }

    /// The address of a client.
    pub fn client_v4(&self, client: u8) -> IpAddr {
        Ipv4Addr::new(10, 77, client, 2).into()
    }

    /// An address of a client: 2 or 3 in its network.
    pub fn client_v6(&self, client: u8, address: u16) -> IpAddr {
        Ipv6Addr::new(0xfd77, 0, 0, client.into(), 0, 0, 0, address).into()
    }

    /// A command that runs like `command` in the namespace of the server.
    pub fn of_server(&self, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.server()]).arg(command.get_program()).args(command.get_args());
        inside.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            inside.current_dir(folder);
        }
        inside
    }

    /// Runs `work` on a thread in the namespace of a client. Connections that it opens come from there, also when other
    /// threads use them later.
    pub fn on_client<'scope, 'env, T: Send + 'scope>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        client: u8,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> ScopedJoinHandle<'scope, T> {
        let path = Path::new("/run/netns").join(self.client(client));
        scope.spawn(move || {
            let namespace = File::open(path).expect("the namespace exists");
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).expect("root may");
            work()
        })
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for client in 0..self.clients {
            let _ = ip(&["netns", "del", &self.client(client)]);
        }
        let _ = ip(&["netns", "del", &self.server()]);
    }
}

fn add_address(namespace: &str, device: &str, address: IpAddr, bits: u8) -> Result<(), String> {
    let address = format!("{address}/{bits}");
    let mut arguments = vec!["-n", namespace, "addr", "add", &address, "dev", device];
    if bits == 64 {
        // Otherwise the address could not be used for a second, while the kernel looks for others that have it.
        arguments.push("nodad");
    }
    ip(&arguments)
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output().map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}

/// Connects from an address, of which this namespace may have several.
///
/// # Errors
///
/// The server cannot be reached.
pub fn connect_from(from: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let family = if from.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::net::bind(&socket, &SocketAddr::new(from, 0))?;
    rustix::net::connect(&socket, &to)?;
    Ok(TcpStream::from(socket))
}
