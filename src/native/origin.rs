//! Which process is at the other end of a loopback connection. The agent can find out the address and
//! the secret of the hooks, but the processes it runs are not the client.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use nix::unistd::Pid;

/// Who opened the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Client,
    Other,
    /// The connection is closed: its sender no longer waits for an answer.
    Gone,
    /// The system gives no information.
    Unknown,
}

/// The process that the client's events come from: the first one in the session of the client's
/// terminal to report an event, which happens before the agent has done anything. It need not be the
/// process that ccc started, since `claude` may be a script. What the agent runs is in a session of its own.
#[derive(Debug, Default, Clone)]
pub struct ClientProcess(Arc<OnceLock<Pid>>);

impl ClientProcess {
    /// Who sent an event; `session` is that of the client's terminal. An error if ccc cannot look: whoever
    /// can bring that about must not be taken for the client.
    pub fn sent(&self, from: SocketAddr, to: SocketAddr, session: Pid) -> io::Result<Origin> {
        let Some(table) = connections()? else { return Ok(Origin::Unknown) };
        let Some(socket) = socket(&table, from, to) else { return Ok(Origin::Gone) };
        let has = |process: &Pid| has_open(*process, socket).unwrap_or(false);
        if self.0.get().is_none()
            && let Some(client) = members(session).into_iter().find(has)
        {
            let _ = self.0.set(client);
        }
        self.made(socket)
    }

    /// Who opened a connection, if the client has reported an event before.
    pub fn opened(&self, from: SocketAddr, to: SocketAddr) -> Origin {
        match (self.0.get(), connections()) {
            (Some(_), Ok(Some(table))) => match socket(&table, from, to) {
                Some(socket) => self.made(socket).unwrap_or(Origin::Unknown),
                None => Origin::Gone,
            },
            _ => Origin::Unknown,
        }
    }

    fn made(&self, socket: u64) -> io::Result<Origin> {
        let is_clients = self.0.get().map_or(Ok(false), |client| has_open(*client, socket))?;
        Ok(if is_clients { Origin::Client } else { Origin::Other })
    }
}

#[cfg(target_os = "linux")]
fn connections() -> io::Result<Option<String>> {
    if_it_exists(std::fs::read_to_string("/proc/net/tcp"))
}

#[cfg(not(target_os = "linux"))]
fn connections() -> io::Result<Option<String>> {
    Ok(None)
}

fn if_it_exists<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn has_open(process: Pid, socket: u64) -> io::Result<bool> {
    let wanted = format!("socket:[{socket}]");
    let open = if_it_exists(std::fs::read_dir(format!("/proc/{process}/fd")))?;
    let mut links =
        open.into_iter().flatten().flatten().map(|entry| std::fs::read_link(entry.path()));
    Ok(links.any(|link| link.is_ok_and(|link| link.as_os_str() == wanted.as_str())))
}

/// The processes of a terminal session.
fn members(session: Pid) -> Vec<Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let processes = all.filter_map(number).map(Pid::from_raw);
    processes.filter(|process| nix::unistd::getsid(Some(*process)) == Ok(session)).collect()
}

/// The inode of the far end's socket: the tenth column of its line.
fn socket(table: &str, from: SocketAddr, to: SocketAddr) -> Option<u64> {
    let (from, to) = (address(from)?, address(to)?);
    let line = table.lines().map(str::split_whitespace).find(|line| {
        let mut columns = line.clone().skip(1);
        columns.next() == Some(&from) && columns.next() == Some(&to)
    })?;
    line.clone().nth(9)?.parse().ok().filter(|number| *number != 0)
}

/// The address as the kernel writes it: its four bytes as one number in native byte order, then the port.
fn address(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else { return None };
    let number = u32::from_ne_bytes(address.ip().octets());
    Some(format!("{number:08X}:{:04X}", address.port()))
}

impl From<Pid> for ClientProcess {
    fn from(process: Pid) -> Self {
        Self(Arc::new(process.into()))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::thread;
    use std::time::Duration;

    use nix::unistd::getsid;

    use super::*;

    #[test]
    fn a_connection_belongs_to_the_process_that_made_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (from, to) = (stream.local_addr().unwrap(), listener.local_addr().unwrap());
        let accepted = listener.accept().unwrap();
        let me = Pid::this();
        let mine = getsid(None).unwrap();
        // This process is not in that session, so it cannot be the client.
        let elsewhere = Pid::from_raw(i32::MAX);
        assert_eq!(ClientProcess::default().sent(from, to, elsewhere).unwrap(), Origin::Other);
        let client = ClientProcess::default();
        assert_eq!(client.opened(from, to), Origin::Unknown);
        assert_eq!(client.sent(from, to, mine).unwrap(), Origin::Client);
        assert_eq!((client.0.get(), client.opened(from, to)), (Some(&me), Origin::Client));
        let other = ClientProcess::from(Pid::parent());
        assert_eq!(other.sent(from, to, mine).unwrap(), Origin::Other);
        assert_eq!(other.opened(from, to), Origin::Other);
        drop((stream, accepted));
        // A child that another test starts at this moment keeps the descriptors open until its `exec`.
        let gone = (0..6000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            client.sent(from, to, mine).unwrap() == Origin::Gone
        });
        assert!(gone);
    }
}
