//! Drops the unreadable members of an object. A number out of range or a broken string then costs
//! only itself, not the message that the loop waits for.

/// How many levels of nested objects are searched: a control request and its content.
const DEPTH: usize = 2;

/// The object without the members that `reads` rejects. `None` if the object is incomplete.
pub fn salvage(object: &str, reads: &dyn Fn(&str) -> bool) -> Option<String> {
    within(object, reads, DEPTH)
}

fn within(object: &str, reads: &dyn Fn(&str) -> bool, depth: usize) -> Option<String> {
    let mut kept = Vec::new();
    for (name, value) in members(object)? {
        let member = |value: &str| format!("{name}:{value}");
        let whole = member(value);
        if reads(&format!("{{{whole}}}")) {
            kept.push(whole);
        } else if let (true, Some(depth)) = (value.starts_with('{'), depth.checked_sub(1)) {
            let reads = |inner: &str| reads(&format!("{{{}}}", member(inner)));
            kept.extend(
                within(value, &reads, depth).filter(|inner| reads(inner)).as_deref().map(member),
            );
        }
    }
    Some(format!("{{{}}}", kept.join(",")))
}

/// The members of an object, name and value as written. What has no name is left out.
fn members(object: &str) -> Option<Vec<(&str, &str)>> {
    let object = object.trim_start();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let (mut start, mut colon, mut found) = (0, None, Vec::new());
    // All significant bytes are ASCII, and so never part of another character.
    for (at, byte) in object.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            b':' if depth == 1 => colon = colon.or(Some(at)),
            b',' | b'}' | b']' if depth == 1 => {
                if let Some(colon) = std::mem::take(&mut colon) {
                    found.push((object[start..colon].trim(), object[colon + 1..at].trim()));
                }
                if byte != b',' {
                    return Some(found);
                }
                start = at + 1;
            }
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts any valid JSON.
    fn salvaged(object: &str) -> Option<String> {
        salvage(object, &|object| serde_json::from_str::<serde_json::Value>(object).is_ok())
    }

    #[test]
    fn unreadable_members_are_dropped() {
        for (object, left) in [
            (r#"{"a":1e999,"b":"x"}"#, r#"{"b":"x"}"#),
            (r#"{ "a" : NaN , "b" : [1, {"c":2}] }"#, r#"{"b":[1, {"c":2}]}"#),
            (r#"{"a":"\x, \" }","b":1,}"#, r#"{"b":1}"#),
            ("{\"a\":\"a\tb\",\"b\":\"{[,:\"}", r#"{"b":"{[,:"}"#),
            (r#"{"a":{"b":1e999,"c":{"d":NaN,"e":"ä"}},"f":1}"#, r#"{"a":{"c":{"e":"ä"}},"f":1}"#),
            (r#"{"a":1e999}{"b":1}"#, "{}"),
            (r#"{"a":[1e999]}"#, "{}"),
        ] {
            assert_eq!(salvaged(object).as_deref(), Some(left), "{object}");
        }
    }

    #[test]
    fn an_incomplete_object_gives_nothing() {
        for half in [r#"{"a":1,"#, r#"{"a":"b}"#, r#"{"a":{"b":1}"#, "", "{", r#"{"a":"\"}"#] {
            assert_eq!(salvaged(half), None, "{half}");
        }
    }

    /// Deep objects are not searched, so that they cannot overflow the stack.
    #[test]
    fn deep_objects_are_dropped_whole() {
        let deep = format!("{}NaN{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
        let left = salvaged(&format!(r#"{{"b":1,"c":{deep}}}"#));
        assert_eq!(left.as_deref(), Some(r#"{"b":1,"c":{"a":{}}}"#));
    }
}
