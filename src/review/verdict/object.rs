//! Finds the JSON object that a text ends with.

/// The JSON object at the end of a text, and the text before it. The search runs backwards from the
/// end, so its cost is linear even for a text with many opening brackets.
pub(super) fn object_at_the_end(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let fence = &text[text.trim_end_matches('`').len()..];
    let unfenced = text.strip_suffix(fence).filter(|_| fence.len() >= 3).map(str::trim_end);
    let body = unfenced.unwrap_or(text);
    let start = opening(body.as_bytes())?;
    let (before, object) = body.split_at(start);
    let before = before.trim_end();
    if unfenced.is_none() {
        let line = before.rsplit('\n').next().unwrap_or_default();
        return (!line.trim_start().starts_with('>')).then_some((before, object));
    }
    let before = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    Some((before.strip_suffix(fence)?.trim_end(), object))
}

/// The index of the bracket that the last byte closes.
fn opening(bytes: &[u8]) -> Option<usize> {
    if bytes.last() != Some(&b'}') {
        return None;
    }
    let (mut depth, mut in_text) = (0_usize, false);
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        #[cfg(test)]
        super::tests::looked_at(1);
        match bytes[at] {
            b'"' => {
                let escapes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
                #[cfg(test)]
                super::tests::looked_at(escapes);
                in_text ^= escapes.is_multiple_of(2);
                // The backslashes belong to the quote, and are not counted a second time.
                at -= escapes;
            }
            b'}' | b']' if !in_text => depth += 1,
            b'{' | b'[' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return (bytes[at] == b'{').then_some(at);
                }
            }
            _ => {}
        }
    }
    None
}
