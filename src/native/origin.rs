//! Who is at the other end of a connection on loopback. The agent can find out where the hooks report
//! to and with what secret; but what it runs is another process than the client.

use std::net::SocketAddr;

use nix::unistd::Pid;

/// Whether the process has this end of the connection; `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub fn is_from(from: SocketAddr, to: SocketAddr, process: Pid) -> Option<bool> {
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let Some(socket) = socket(&table, from, to) else { return Some(false) };
    let wanted = format!("socket:[{socket}]");
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let is_it = |entry: std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|link| link.as_os_str() == wanted.as_str())
    };
    Some(open.flatten().any(is_it))
}

#[cfg(not(target_os = "linux"))]
pub fn is_from(_from: SocketAddr, _to: SocketAddr, _process: Pid) -> Option<bool> {
    None
}

/// The number of the socket on the far end: the tenth column of its line.
#[cfg(target_os = "linux")]
fn socket(table: &str, from: SocketAddr, to: SocketAddr) -> Option<u64> {
    let (from, to) = (address(from)?, address(to)?);
    let line = table.lines().map(str::split_whitespace).find(|line| {
        let mut columns = line.clone().skip(1);
        columns.next() == Some(&from) && columns.next() == Some(&to)
    })?;
    line.clone().nth(9)?.parse().ok().filter(|number| *number != 0)
}

/// As the kernel writes it: the four bytes as one number of this machine's order, and the port.
#[cfg(target_os = "linux")]
fn address(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else { return None };
    let number = u32::from_ne_bytes(address.ip().octets());
    Some(format!("{number:08X}:{:04X}", address.port()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_connection_belongs_to_the_process_that_made_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (from, to) = (stream.local_addr().unwrap(), listener.local_addr().unwrap());
        let (_accepted, _) = listener.accept().unwrap();
        let me = Pid::from_raw(std::process::id().cast_signed());
        assert_eq!(is_from(from, to, me), Some(true));
        assert_eq!(is_from(from, to, nix::unistd::getppid()), Some(false));
        drop(stream);
    }
}
