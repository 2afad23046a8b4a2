//! Finds the names that match what was typed, closest first. The case of ASCII letters is ignored.

/// The distance of a name from the query; less is closer.
type Distance = (u8, usize, usize);

/// Alphabetical, with ccc's own commands first.
pub fn commands<'a>(
    own: &[&'a str],
    names: impl Iterator<Item = &'a str>,
    query: &str,
    most: usize,
) -> Vec<String> {
    closest(own.iter().copied().chain(names), most, |name| {
        let class = match find(name, query)? {
            0 if name.len() == query.len() => 0,
            0 => 1,
            _ => 2,
        };
        Some((class, usize::from(!own.contains(&name)), 0))
    })
}

/// Directories end with a slash. A deeper file is further away.
pub fn files(paths: &[String], query: &str, most: usize) -> Vec<String> {
    closest(paths.iter().map(String::as_str), most, |path| {
        let name = path.strip_suffix('/').unwrap_or(path);
        let name_at = name.rfind('/').map_or(0, |slash| slash + 1);
        let depth = name.matches('/').count();
        let class = match (find(path, query), find(&path[name_at..], query)) {
            // The typed directory itself is not a suggestion for its contents.
            (Some(0), _) if path.len() == query.len() && path.ends_with('/') => return None,
            (Some(0), _) => 0,
            (_, Some(0)) => 1,
            (_, Some(_)) => 2,
            (Some(_), None) => 3,
            (None, None) if in_order(path, query) => 4,
            (None, None) => return None,
        };
        Some((class, depth, path.len()))
    })
}

fn closest<'a>(
    names: impl Iterator<Item = &'a str>,
    most: usize,
    distance: impl Fn(&str) -> Option<Distance>,
) -> Vec<String> {
    let mut found: Vec<_> = names.filter_map(|name| Some((distance(name)?, name))).collect();
    if found.len() > most {
        found.select_nth_unstable(most);
        found.truncate(most);
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

fn find(text: &str, query: &str) -> Option<usize> {
    let (text, query) = (text.as_bytes(), query.as_bytes());
    if query.is_empty() {
        return Some(0);
    }
    text.windows(query.len()).position(|part| part.eq_ignore_ascii_case(query))
}

/// Whether the text contains the query's characters in order, with others in between.
fn in_order(text: &str, query: &str) -> bool {
    let mut text = text.bytes();
    query.bytes().all(|wanted| text.any(|byte| byte.eq_ignore_ascii_case(&wanted)))
}
