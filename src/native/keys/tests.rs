use super::*;

fn keys(bytes: &[&[u8]]) -> Keys {
    let mut keys = Keys::default();
    for bytes in bytes {
        keys.typed(bytes);
    }
    keys
}

#[test]
fn every_message_needs_an_enter_of_its_own() {
    assert_eq!(keys(&[b"hello"]).claim("hello"), Claim::No);
    let mut one = keys(&[b"hel", b"lo\r"]);
    assert_eq!((one.claim("hello"), one.claim("hello")), (Claim::Typed, Claim::No));
    for enter in [b"\x1b[13u".as_slice(), b"\x1b[13;1u", b"\x1b[13;65u", b"\x1bOM"] {
        assert_eq!(keys(&[b"x", enter]).claim("x"), Claim::Typed, "{enter:?}");
    }
    for other in
        [b"\x1b[13;2u".as_slice(), b"\x1b[13;1:3u", b"\n", b"\x1b\r", b"\x1b[200~a\rb\x1b[201~"]
    {
        assert_eq!(keys(&[b"x", other]).claim("x"), Claim::No, "{other:?}");
    }
}

#[test]
fn a_message_is_the_persons_if_their_keys_can_have_made_it() {
    for (typed, message) in [
        ("fix it\r", "fix it"),
        ("fix  it\\\rnow\r", "fix  it\nnow"),
        ("fux\x7f\x7fix it\r", "fix it"),
        ("nonsense\x15fix it\r", "fix it"),
        ("\x1b[120u\x1b[127ufix it\r", "fix it"),
        ("\x1b[200~two\r\nlines\x1b[201~\r", "two\nlines"),
    ] {
        assert_eq!(keys(&[typed.as_bytes()]).claim(message), Claim::Typed, "{typed:?}");
    }
    let long = "long ".repeat(1000);
    assert_eq!(keys(&[long.as_bytes(), b"\r"]).claim(&long), Claim::Typed);
    for (typed, message) in [
        ("look at @src/ma\t\r", "look at @src/main.rs"),
        ("/rev\r", "/review"),
        ("\x1b[A\r", "fix it"),
        ("\x16 what is this\r", "[Image #1] what is this picture"),
        ("\x1b[200~/tmp/picture.png\x1b[201~\r", "[Image #1]"),
    ] {
        assert_eq!(keys(&[typed.as_bytes()]).claim(message), Claim::Possible, "{typed:?}");
    }
    // Enters that answer dialogs, and other messages.
    for typed in ["\r", "1\r", "do something else\r", "\x1b[<0;10;10M\x1b[I\r"] {
        assert_eq!(keys(&[typed.as_bytes()]).claim("fix it"), Claim::No, "{typed:?}");
    }
}

#[test]
fn what_was_typed_is_claimed_before_what_can_have_been() {
    let mut keys = keys(&[b"\x1b[B\r", b"explain /supervisoroff\r"]);
    assert_eq!(keys.claim("explain /supervisoroff"), Claim::Typed);
    assert!(!keys.claim_command("/supervisoroff"));
    assert_eq!(keys.claim("scheduled"), Claim::Possible);
}

#[test]
fn an_enter_that_nobody_claimed_is_good_for_one_stop() {
    let mut keys = keys(&[b"\x1b[B\r"]);
    keys.agent_stopped();
    keys.typed(b"later\r");
    keys.agent_stopped();
    assert_eq!(keys.claim("scheduled"), Claim::No);
    assert_eq!(keys.claim("later"), Claim::Typed);
}

#[test]
fn what_the_terminal_reports_is_no_key() {
    for report in [
        b"\x1b[<0;10;10M\x1b[<0;10;10m".as_slice(),
        b"\x1b[I\x1b[O",
        b"\x1b[?62;4c",
        b"\x1b[?1u",
        b"\x1b]11;rgb:0/0/0\x1b\\",
        b"\x1bP>|xterm(388)\x1b\\",
        b"\x1b_Gi=31;OK\x1b\\",
    ] {
        let mut keys = keys(&[report, b"\r", report, b"/supervisoroff\r"]);
        assert!(keys.claim_command("/supervisoroff"), "{report:?}");
        assert_eq!(keys.claim("x"), Claim::No, "{report:?}");
    }
}

#[test]
fn a_command_was_typed_pasted_or_completed() {
    for typed in [
        b"/supervisoroff\r".as_slice(),
        b"/superv\t\r",
        b"/supervisoroff go on\r",
        b"/supervisorf\x7foff\r",
        b"\x1b[200~/supervisoroff\x1b[201~\r",
        b"/\x1b[B\x1b[B\r",
        b"deleted\x1b\x7f/supervisoroff\r",
        b"\x1b[47u\x1b[115uu\r",
    ] {
        assert!(keys(&[typed]).claim_command("/supervisoroff"), "{typed:?}");
    }
    for other in [
        b"hello\r".as_slice(),
        b"/supervisoroff",
        b"\r",
        b"/\r",
        b"/supper\r",
        b"/su\x1b[13;1:3u",
        b"what does /supervisoroff do\r",
        // Could be a dialog or a line from the history.
        b"\x1b[A\r",
        b"\x1b[B\t\r",
    ] {
        assert!(!keys(&[other]).claim_command("/supervisoroff"), "{other:?}");
    }
    assert!(keys(&[b"\x1b", b"/supervisoroff\r"]).claim_command("/supervisoroff"));
    let mut later = keys(&[b"first\r", b"/supervisoroff\r", b"second\r"]);
    assert!(later.claim_command("/supervisoroff"));
    assert!(!later.claim_command("/supervisoroff"));
    assert_eq!((later.claim("second"), later.claim("first")), (Claim::Typed, Claim::No));
}

#[test]
fn bytes_may_be_cut_anywhere() {
    let all = "é\x1b[200~pa\x1b[201~\x15/supervisor\x1b[1;5D\x1b[13u".as_bytes();
    for at in 0..all.len() {
        let mut keys = keys(&[&all[..at], &all[at..]]);
        assert!(keys.claim_command("/supervisor"), "{at}");
    }
}

#[test]
fn who_goes_back_finds_an_earlier_message_in_the_input() {
    for back in [b"/rewind\r".as_slice(), b"/rew\r", b"\x1b\x1b", b"\x1b[27u\x1b[27u"] {
        let mut went = keys(&[back, b"\x1b[A\r\r", b"\r"]);
        assert!(went.may_have_gone_back(), "{back:?}");
        assert_eq!(went.claim("an earlier message"), Claim::Possible, "{back:?}");
        assert!(!went.claim_command("/supervisoroff"));
        went.agent_stopped();
        assert!(!went.may_have_gone_back());
    }
    // A lone Esc counts as a key once the next byte shows that it does not start a sequence.
    assert!(keys(&[b"\x1b", b"x"]).may_have_gone_back());
    assert!(!keys(&[b"rewind it\r\x1b[A\x1b", b"[B\x1bx\r"]).may_have_gone_back());
}

#[test]
fn a_command_of_the_persons_own_was_typed() {
    let mut keys = keys(&[b"!make test\r"]);
    assert!(keys.sent_to_shell("make test") && !keys.sent_to_shell("make"));
    // The agent works on a prompt that nobody has interrupted.
    assert!(!keys.claim_own_command("make test", true));
    for interrupts in [b"\x1b\x1b[I".as_slice(), b"\x03", b"\x1b[99;5u"] {
        let mut keys = self::keys(&[interrupts, b"!make test\r"]);
        assert!(!keys.claim_own_command("ls", true), "{interrupts:?}");
        assert!(keys.claim_own_command("make test", true), "{interrupts:?}");
        assert!(!keys.claim_own_command("make test", true), "{interrupts:?}");
    }
    assert!(keys.claim_own_command("make test", false));
    assert!(!keys.claim_own_command("make test", false), "every command needs an Enter of its own");
    keys.typed(b"\x1b");
    keys.typed(b"[A\r");
    assert!(!keys.sent_to_shell("from the history"));
    assert!(keys.claim_own_command("from the history", false));
    assert!(self::keys(&[b"\x1b[A\x15again\r"]).may_have_taken_back());
    assert!(!self::keys(&[b"again\r"]).may_have_taken_back());
    // The work that the person interrupted ended long ago.
    keys.typed(b"\x03");
    keys.agent_stopped();
    keys.typed(b"!make\r");
    assert!(!keys.claim_own_command("make", true));
}
