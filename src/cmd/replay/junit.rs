//! The results of the checks as JUnit XML, for CI systems.

use std::fmt::Write;

use super::check::Case;

pub fn xml(cases: &[Case]) -> String {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let time: f64 = cases.iter().map(|case| case.time.as_secs_f64()).sum();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" time=\"{time:.3}\"", cases.len());
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites {counts}>");
    let _ = writeln!(text, "  <testsuite name=\"ccc replay\" errors=\"0\" skipped=\"0\" {counts}>");
    for case in cases {
        let (name, seconds) = (escaped(&case.name), case.time.as_secs_f64());
        let head = format!("classname=\"{}\" name=\"{name}\" time=\"{seconds:.3}\"", case.kind);
        let _ = match &case.failure {
            None => writeln!(text, "    <testcase {head}/>"),
            Some(failure) => {
                let first = escaped(failure.lines().next().unwrap_or_default());
                let whole = escaped(failure);
                writeln!(
                    text,
                    "    <testcase {head}>\n      <failure message=\"{first}\">{whole}</failure>\n    </testcase>"
                )
            }
        };
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// Escapes text and attributes. XML cannot represent most control characters at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn one_testcase_per_target_with_its_failure() {
        let case = |name: &str, failure: Option<&str>| Case {
            name: name.into(),
            kind: "fixture",
            size: 3,
            outcome: "ended".into(),
            failure: failure.map(Into::into),
            time: Duration::from_millis(1500),
        };
        let text =
            xml(&[case("a", None), case("<b> & \"c\"", Some("line 3: 'x'\n\u{1b}[31m]]> <é>"))]);
        assert_eq!(
            text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites tests=\"2\" failures=\"1\" time=\"3.000\">\n  \
               <testsuite name=\"ccc replay\" errors=\"0\" skipped=\"0\" tests=\"2\" failures=\"1\" time=\"3.000\">\n    \
                 <testcase classname=\"fixture\" name=\"a\" time=\"1.500\"/>\n    \
                 <testcase classname=\"fixture\" name=\"&lt;b&gt; &amp; &quot;c&quot;\" time=\"1.500\">\n      \
                   <failure message=\"line 3: &apos;x&apos;\">line 3: &apos;x&apos;\n\u{fffd}[31m]]&gt; &lt;é&gt;</failure>\n    \
                 </testcase>\n  \
               </testsuite>\n\
             </testsuites>\n"
        );
    }
}
