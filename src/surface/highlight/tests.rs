//! Lines of each language, with their styles written before the words: `k:fn| |n:main|()`.

use proptest::prelude::*;

use super::*;

const MARKED: [(&str, Style); 9] = [
    ("k:", Style::Keyword),
    ("l:", Style::Literal),
    ("q:", Style::Quoted),
    ("c:", Style::Comment),
    ("n:", Style::Name),
    ("d:", Style::Dim),
    ("b:", Style::Bold),
    ("+:", Style::Added),
    ("-:", Style::Removed),
];

const LANGUAGES: [&str; 25] = [
    "rust",
    "python",
    "js",
    "ts",
    "json",
    "yaml",
    "toml",
    "sh",
    "go",
    "c",
    "cpp",
    "java",
    "kotlin",
    "swift",
    "cs",
    "php",
    "ruby",
    "sql",
    "html",
    "css",
    "diff",
    "dockerfile",
    "markdown",
    "",
    "no-such-language",
];

fn marked(line: &Styled) -> String {
    let spans = line.spans().map(|(style, text)| {
        let mark = MARKED.iter().find(|(_, marked)| *marked == style);
        assert!(mark.is_some() || style == Style::Plain, "{style:?}");
        format!("{}{text}", mark.map_or("", |(mark, _)| mark))
    });
    spans.collect::<Vec<_>>().join("|")
}

fn bare(marked: &str) -> String {
    let bare = |part: &str| -> Option<usize> {
        MARKED.iter().any(|(mark, _)| part.starts_with(mark)).then_some(2)
    };
    marked.split('|').map(|part| &part[bare(part).unwrap_or_default()..]).collect()
}

#[track_caller]
fn check(blocks: &[(&str, &str)]) {
    for (info, block) in blocks {
        let mut code = Code::new(info);
        for expected in block.lines() {
            assert_eq!(marked(&code.line(&bare(expected))), *expected, "{info}");
        }
    }
}

#[test]
fn each_language_is_highlighted() {
    check(&[
        ("rust,ignore", "k:pub| |k:fn| |n:main|() -> Vec<u8> { |n:run|(|l:1_000u64|, |l:true|) }"),
        ("rs", "k:let| a = &|k:mut| b.type; |n:println!|(|q:\"{a}\"|); |c:// end"),
        (
            "rust",
            "#[|n:derive|(Debug)] |k:struct| |n:Name|; |k:impl| A |k:for| B {} a != b; x.|k:await",
        ),
        ("python", "k:async| |k:def| |n:load|(a: str = |l:None|) -> x:  |c:# why"),
        (
            "py title=x",
            "n:@cache\nk:class| |n:A|(B):\n    x = |q:f\"a\"| + |q:rb'b'| + |l:1e-5|.real",
        ),
        ("js", "k:const| $a = |k:await| |n:f|(|l:0x1f|) / |l:2| / b; |c:/* x */| y.default"),
        ("jsx", "k:return| <b title=|q:\"a\"|>don't</b>; x = |q:/[/\"]\\/+/|.test"),
        (
            "typescript",
            "k:type| |n:A| = { type: |k:string|, b?: |l:null| }; |k:export| |k:default| |k:class| |n:B| {}",
        ),
        ("tsx", "n:@Input|() a = |q:`x ${y}`|;"),
        (
            "json",
            "{|n:\"a b\"|: [|l:1.5|, -|l:2|, |l:true|, |q:\"x\\\"y\"|], |n:\"c\"| : |l:null|}",
        ),
        (
            "yaml",
            "n:on|: push\n  - |n:runs-on|: |q:\"a\"|  |c:# c\n    - |n:a b|: |l:1.5\nn:x|: it's http://a#b |l:true\nn:\"q\"|: |l:-5",
        ),
        (
            "toml",
            "n:[a.b]\nn:key-x| = |q:\"v\"| |c:# c\nn:d| = 1979-05-27\nn:n| = [|l:1|, |l:true|]\n  |q:\"a=b\"|,",
        ),
        ("ini", "c:; c\nn:[s]\nn:a|=b"),
        ("bash", "k:for| x |k:in| a if; |k:do| |n:echo| |q:\"$x\"| --in |q:'y'|; |k:done| |c:# c"),
        ("sh", "A=|l:1| B=|q:\"x\"| |n:cargo| test --lib a#b && |n:./run.sh| |l:2|>&|l:1"),
        ("zsh", "k:if| [ -f x ]; |k:then| x=$(|n:cat| ${y}/if)"),
        ("go", "k:func| (a *A) |n:Run|(b |k:string|) |k:error| { |k:return| |l:nil| } |c:// c"),
        (
            "c",
            "k:#include| |q:<a.h>| |c:// c\nk:static| |k:int| |n:f|(|k:char| c) { |k:return| c == |q:'\\''|; }",
        ),
        ("c++", "k:template| <|k:typename| T> |k:class| |n:A| { |k:auto| a = |l:1'000|; };"),
        ("java", "n:@Override| |k:public| |k:void| |n:run|() { |k:int| a = |q:'x'|; }"),
        ("kotlin", "k:fun| |n:f|(a: Int) = |k:when| (a) { |l:1| -> |q:\"b\"| }"),
        ("swift", "k:func| |n:f|() { |k:guard| |k:let| a = |l:nil| }"),
        ("csharp", "k:var| p = |q:@\"C:\\\"| + |q:$\"{a}\"|;"),
        ("php", "k:function| |n:f|($if) { |k:return| $this->a; } |c:# c"),
        ("ruby", "k:def| |n:f|; x = {a: |l::b|}; A::B.new |k:if| x =~ |q:/'/|; |k:end| |c:# c"),
        (
            "sql",
            "k:SELECT| |n:count|(*) |k:from| t |k:Where| a = |q:'it''s'| |k:and| b |k:is| |k:not| |l:NULL| |c:-- c",
        ),
        ("html", "c:<!-- c -->|k:<a| |n:href|=|q:\"x\"| |n:b|k:>|a < b |l:&amp;| c|k:</a><br/>"),
        (
            "css",
            "k:@media| (a) { .b:hover, a { |n:color|: |l:#fff|; |n:top|: |l:-1.5em| } } |c:/* c */",
        ),
        ("scss", "c:// c\n  |n:$a-b|: |n:url|(http://x)"),
        ("dockerfile", "k:FROM| rust:1.89 |k:AS| build\nk:RUN| make |q:\"a\"| |c:# c"),
        (
            "diff",
            "b:diff --git a/x b/x\nb:--- a/x\nb:+++ b/x\nn:@@ -1 +1 @@\n a\n-:-b\n+:+c\n-:--- d",
        ),
        ("patch", "+:+a"),
    ]);
}

#[test]
fn an_unknown_language_is_plain() {
    for info in ["", "text", "no-such-language", "{}", "markdown", "md"] {
        check(&[(info, "let a = \"b\" // c")]);
    }
}

#[test]
fn open_comments_and_strings_continue_in_the_next_line() {
    check(&[
        ("rust", "c:/* a /* b */\nc:let"),
        ("rust", "a |c:/* b /* c\nc:d */ let\nc:e */| |k:let"),
        ("rust", "q:r#\"a\nq:\"b\\\nq:\"#| |k:let"),
        ("rust", "q:\"a\nq:b\"| |k:let"),
        ("c", "c:/* a\nc:/* b */| |k:if"),
        ("python", "x = |q:f\"\"\"a\nq:\"b\" # c\nq:\"\"\"| |k:if"),
        ("js", "q:`a\nq:// b ${c}\nq:`| |k:if"),
        ("go", "q:`a\\`| |k:if"),
        ("html", "k:<a\n  |n:b|=|q:\"c\nq:d\"|k:>|e\nc:<!-- f\nc:g -->|h"),
        ("html", "k:<script>\na < b && \"c\"\nk:</script>|x"),
        ("sh", "n:echo| |q:'a\nq:b'| c"),
    ]);
}

#[test]
fn one_line_strings_end_with_their_line() {
    check(&[
        ("js", "a = |q:\"b if\nk:if"),
        ("json", "q:\"a\nl:1"),
        ("python", "q:'a\\'b\\\\'| |k:if| |q:\"\\"),
        ("c", "q:\"\\\"//\"| |c://"),
    ]);
}

#[test]
fn apostrophes_are_not_always_quotes() {
    check(&[
        (
            "rust",
            "k:fn| |n:f|<'a, 'static>(x: &'a str) { 'if: |k:loop| { |q:'x'|; |q:'\\u{1F600}'| } }",
        ),
        ("rust", "q:'汉'|, |q:'\\''|, |q:b\"a\"|, |q:'\"'| '"),
        ("c", "k:#error| don't |k:if"),
        ("python", "it's |k:if"),
        ("sh", "n:echo| don|q:'t if'| x"),
    ]);
}

#[test]
fn strings_can_contain_any_letters() {
    check(&[
        ("python", "q:\"汉字 👩‍👩‍👧 \\é\"| + 名前 + |n:汉|(|l:1|)"),
        ("js", "c:// 汉字 👩‍👩‍👧"),
        ("html", "k:<a| |n:é|=|q:'汉'|k:>|字"),
        ("yaml", "n:名前|: |q:'汉'"),
    ]);
}

#[test]
fn shell_sessions_are_highlighted() {
    check(&[
        // Text between prompts is not code, whatever it looks like.
        (
            "console",
            "c:# a\nd:$ |n:ls| -l \\\n  if |q:\"a\nq:b\"\nif it isn't\nd:$ |n:cd| x\n\n  |d:$ |n:y",
        ),
        ("bash", "n:cat| > x <<|q:'END'\nq:it's\nk:END\nn:ls| <<< a $((|l:1|<<|l:2|))\nn:ls"),
        ("sh", "n:cat| <<-A; |n:b\nq:  $ c\nk:  A\nn:d"),
        ("sh", "n:a| && \\\n  |n:b| \\\n  c"),
        ("sh", "k:case| $x |k:in| *) |n:a| \\\" b;; |k:esac"),
    ]);
}

#[test]
fn parts_of_a_line_are_highlighted_as_one_line() {
    for (info, parts, next) in [
        ("js", ["c:// a", "c:if", "c: b"], "k:if"),
        ("js", ["a = |q:\"b", "q:if", "q:\"| |k:if"], "k:if"),
        ("sh", ["n:a", " b", " c"], "n:d"),
        ("yaml", ["n:a|: b", "z: d", "e"], "n:if|: x"),
        ("diff", ["+:+a", "-b", "c"], "-:-d"),
    ] {
        let mut code = Code::new(info);
        for expected in parts {
            assert_eq!(marked(&code.part(&bare(expected))), expected, "{info}");
        }
        code.end_line();
        assert_eq!(marked(&code.line(&bare(next))), next, "{info}");
    }
}

/// Fragments that are special in some language, cut anywhere.
fn fragment() -> impl Strategy<Value = String> {
    let known = "\" ' ` \"\"\" ''' \\ /* */ // # -- --[[ ]] {- -} <!-- --> < > </ <script> </script> \
        = : - r#\" \"# r b' f\" @ @\" $ $\" << <<EOF EOF ( ) [ ] { } ; ! &amp; & / fn if for in class \
        include #include + @@ . .. 0x 1 1e _ 汉字 é e\u{301} 👩‍👩‍👧 \u{200b} \x1b[1m \r";
    let known = prop::sample::select(known.split(' ').collect::<Vec<_>>());
    let space = prop::sample::select(vec![" ", "    ", "\t"]);
    prop_oneof![
        6 => known.prop_map(str::to_owned),
        2 => space.prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_letter_is_lost(
        lines in prop::collection::vec(prop::collection::vec(fragment(), 0..12), 1..6),
        in_parts in any::<bool>(),
    ) {
        for info in LANGUAGES {
            let mut code = Code::new(info);
            for line in &lines {
                if in_parts {
                    for part in line {
                        prop_assert_eq!(code.part(part).text(), untabbed(part), "{}", info);
                    }
                    code.end_line();
                } else {
                    let line = line.concat();
                    prop_assert_eq!(code.line(&line).text(), untabbed(&line), "{}", info);
                }
            }
        }
    }
}

/// If anything were scanned repeatedly, this would take hours.
#[test]
fn long_lines_are_read_once() {
    for (info, pieces) in [
        ("rust", "\" ' '\\ r# r\"# /* */ /* a 1 汉"),
        ("js", "\\' =/ =/[ _/"),
        ("c", "# #include<"),
        ("json", "\"a\"_ 1"),
        ("yaml", "a: _# -_"),
        ("toml", "a= ["),
        ("sh", "<<a $( { ' \\"),
        ("html", "<a <! <1 &a </ <script>"),
        ("css", "#a a:"),
    ] {
        for piece in pieces.split(' ') {
            let piece = piece.replace('_', " ");
            let line = piece.repeat(300_000 / piece.len());
            let mut code = Code::new(info);
            assert_eq!(code.line(&line).text().len(), line.len(), "{info}: {piece}");
        }
    }
}
