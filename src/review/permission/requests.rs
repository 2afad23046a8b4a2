//! Requests that send something to another machine: `curl -X POST`, `wget --post-data` and the like.
//! Requests that only fetch, and requests to this machine, are none of them.

/// Options of curl whose value could be taken for an address.
const VALUED: [&str; 30] = [
    "-A",
    "-b",
    "-c",
    "-d",
    "-D",
    "-e",
    "-E",
    "-F",
    "-H",
    "-K",
    "-m",
    "-o",
    "-T",
    "-u",
    "-w",
    "-x",
    "-X",
    "--cookie",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--form",
    "--header",
    "--json",
    "--output",
    "--proxy",
    "--referer",
    "--upload-file",
    "--user",
];
/// Options of curl and wget that send something, or that choose a method.
const SENDING: [&str; 8] = [
    "--data",
    "--json",
    "--form",
    "--upload-file",
    "--post-data",
    "--post-file",
    "--body-data",
    "--body-file",
];
const METHODS: [&str; 8] = ["GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE"];
const FETCHING: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// Whether this command sends something to another machine.
pub fn sends(program: &str, args: &[String]) -> bool {
    let sending = match program {
        "curl" => curl_sends(args),
        "wget" => match method(args, None, "--method") {
            Some(method) => !is_fetching(&method),
            None => args.iter().any(|arg| is_sending(arg)),
        },
        // httpie and its like: a method, an address, and items such as `name=value`.
        "http" | "https" | "xh" | "xhs" => {
            let told: Vec<_> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
            let is_method = |arg: &str| METHODS.contains(&arg.to_ascii_uppercase().as_str());
            match told.first().filter(|first| is_method(first.as_str())) {
                Some(method) => !is_fetching(method),
                None => told.iter().skip(1).any(|arg| arg.contains('=') && !arg.contains("==")),
            }
        }
        _ => false,
    };
    sending && addresses(args).any(|address| !is_this_machine(address))
}

fn curl_sends(args: &[String]) -> bool {
    let has = |short: char, long: &str| args.iter().any(|arg| arg == long || has_short(arg, short));
    match method(args, Some('X'), "--request") {
        Some(method) => !is_fetching(&method),
        None if has('G', "--get") => false,
        None => {
            ['d', 'F', 'T'].into_iter().any(|short| has(short, ""))
                || args.iter().any(|arg| is_sending(arg))
        }
    }
}

/// `--data`, `--data-raw`, `--data=x`
fn is_sending(arg: &str) -> bool {
    SENDING.iter().any(|option| {
        arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '=']))
    })
}

/// The method that is asked for: `-X POST`, `-sXPOST`, `--request=POST`.
fn method(args: &[String], short: Option<char>, long: &str) -> Option<String> {
    args.iter().enumerate().rev().find_map(|(at, arg)| {
        let next = || args.get(at + 1).cloned().unwrap_or_default();
        if let Some(rest) = arg.strip_prefix(long) {
            return match rest.strip_prefix('=') {
                Some(method) => Some(method.to_owned()),
                None => rest.is_empty().then(next),
            };
        }
        let short = short.filter(|short| has_short(arg, *short))?;
        match arg.split_once(short) {
            Some((_, "")) => Some(next()),
            Some((_, method)) => Some(method.to_owned()),
            None => None,
        }
    })
}

/// Whether a group of short options has this one. What stands behind an option with a value is its
/// value.
fn has_short(arg: &str, short: char) -> bool {
    let mut letters = short_options(arg).chars();
    letters.find(|letter| *letter == short || is_valued(*letter)) == Some(short)
}

fn short_options(arg: &str) -> &str {
    arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default()
}

fn is_valued(letter: char) -> bool {
    VALUED.iter().any(|option| short_options(option) == letter.to_string())
}

/// Whether the value of this option is the next argument.
fn takes_the_next(arg: &str) -> bool {
    let letters = short_options(arg);
    let valued = letters.find(is_valued);
    valued.is_some_and(|at| at + 1 == letters.len()) || VALUED.contains(&arg)
}

fn is_fetching(method: &str) -> bool {
    FETCHING.contains(&method.to_ascii_uppercase().as_str())
}

/// The arguments that are addresses. One that is computed is none: nobody can tell where it leads.
fn addresses(args: &[String]) -> impl Iterator<Item = &str> {
    let is_value = |at: usize| at > 0 && takes_the_next(&args[at - 1]);
    let told = args.iter().enumerate().filter(move |(at, _)| !is_value(*at));
    told.map(|(_, arg)| arg.strip_prefix("--url=").unwrap_or(arg)).filter(|arg| is_address(arg))
}

fn is_address(arg: &str) -> bool {
    if arg.starts_with(['-', '/', '.', '$', '_', '@', '{', '['])
        || arg.contains(char::is_whitespace)
    {
        return false;
    }
    let host = host(arg);
    arg.contains("://") && !host.starts_with(['$', '_'])
        || !arg.contains('=')
            && host.split('.').count() > 1
            && host.ends_with(char::is_alphanumeric)
}

/// The host in an address, with or without a scheme, a login and a port.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    match rest.strip_prefix('[') {
        Some(inside) => inside.split(']').next().unwrap_or_default(),
        None => rest.split(':').next().unwrap_or_default(),
    }
}

fn is_this_machine(address: &str) -> bool {
    let host = host(address).to_ascii_lowercase();
    let is_number = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_loopback =
        matches!(host.as_str(), "::1" | "::" | "0.0.0.0") || is_number && host.starts_with("127.");
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str) -> bool {
        let words = shell_words::split(command).unwrap();
        sends(&words[0], &words[1..])
    }

    #[test]
    fn what_is_sent_to_another_machine_is_known() {
        for command in [
            "curl -X POST https://api.example.com/deploy",
            "curl -XDELETE https://api.example.com/x",
            "curl -sXPUT https://api.example.com/x",
            "curl --request=PATCH https://api.example.com/x",
            "curl --request post example.com/x",
            "curl -d a=b https://example.com",
            "curl -sd a=b https://example.com",
            "curl -da=b example.com/hook",
            "curl --json '{}' --url https://example.com",
            "curl --url=https://example.com --data-raw x",
            "curl -F file=@x https://example.com",
            "curl -T dist.tgz ftp://example.com/",
            "curl -H 'Host: localhost' -X POST http://10.0.0.7/x",
            "curl -X POST http://me:pw@example.com:8080/x",
            "curl -X POST http://127.0.0.1.example.com/a",
            "curl -X POST http://localhost:1/a https://example.com/b",
            "wget --post-data=a=b https://example.com",
            "wget --method=DELETE https://example.com",
            "http POST example.com/x",
            "http example.com/x name=value",
            "xh put https://example.com a=b",
        ] {
            assert!(told(command), "{command}");
        }
    }

    #[test]
    fn fetching_is_not_sending_and_this_machine_is_not_another_one() {
        for command in [
            "curl https://example.com/x",
            "curl -sSfL https://example.com/x -o /tmp/x",
            "curl -I https://example.com",
            "curl -X GET https://example.com",
            "curl -XHEAD https://example.com",
            "curl -G -d q=x https://example.com/search",
            "curl -X POST http://localhost:3000/api -d '{\"url\": \"https://example.com\"}'",
            "curl -X POST -H 'Origin: https://example.com' http://127.0.0.1:8080/",
            "curl -sd a=b 'http://[::1]:8080/x'",
            "curl -X POST 0.0.0.0:8080/x",
            "curl -X POST app.localhost:8080/x",
            "curl -X POST \"$BASE/x\"",
            "curl -X POST http://$HOST/x",
            "curl -o example.com -d x localhost:3",
            "curl -fsS -u a.b:c localhost:3 -d x.y",
            "curl",
            "wget -q -O- https://example.com",
            "http GET example.com",
            "http :3000/x name=value",
            "http example.com q==x",
            "grep -d x https://example.com",
        ] {
            assert!(!told(command), "{command}");
        }
    }
}
