//! Session ids come from outside and become part of paths and command lines.

/// Letters, digits, `_` and `-`, not starting with `-` (an option), at most 128.
pub fn is_safe(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 128
        && !id.starts_with('-')
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn only_harmless_ids_pass() {
        for id in ["abc123", "d2f93dfa-18b5-4dd4-8c51-fadc55295915", "a_B", &"x".repeat(128)] {
            assert!(is_safe(id), "{id}");
        }
        for id in ["", "-rf", "../x", "a/b", "a b", "a\0b", "é", ".", &"x".repeat(129)] {
            assert!(!is_safe(id), "{id}");
        }
    }
}
