//! `ccc --supervisor=native` between a person's terminal and a client that puts its own into raw mode:
//! every byte passes, in both directions and unchanged, whatever it is and however much of it comes.

use crate::person::Person;
use crate::room::Room;

/// Keeps what it reads, and draws what the test has put there.
const DUMPS: &str = r#"#!/bin/sh
stty raw -echo
printf zq-ready
head -c "$(cat "$ROOM/size")" >"$ROOM/got"
cat "$ROOM/drawn"
printf zq-drawn
"#;

/// Every byte there is, alone and beside every other.
fn every_byte() -> Vec<u8> {
    let all = 0..=u8::MAX;
    all.clone().flat_map(|one| all.clone().flat_map(move |other| [one, other])).collect()
}

/// What terminals send, and what programs send to them.
const SPOKEN: [&[u8]; 16] = [
    b"\x1b[200~pasted\r\n\x1b[201~",
    b"\x1b[<0;10;20M\x1b[<0;10;20m\x1b[<65;1;1M",
    b"\x1b[M !!",
    b"\x1b[I\x1b[O",
    b"\x1b[97;5u\x1b[13;2:3u\x1b[57441;1:1u\x1b[?1u\x1b[>1u\x1b[<u",
    b"\x1b]52;c;aGVsbG8=\x07\x1b]52;c;?\x1b\\",
    b"\x1b[c\x1b[?62;22c\x1b[>c\x1b[>0q\x1bP>|xterm(390)\x1b\\",
    b"\x1b]10;?\x1b\\\x1b]11;rgb:0000/0000/0000\x07",
    b"\x1b[6n\x1b[12;40R",
    b"\x1b_Ga=T,f=100;iVBORw0KGgo=\x1b\\\x1bPq#0;2;0;0;0~~\x1b\\",
    b"\x1b[?2026h\x1b[?1049h\x1b[?2004h\x1b[?1006h",
    b"\x03\x1a\x1c\x04\x00\x11\x13\x16\x7f\n\r",
    b"\xc3\x28\xff\xfe\x80\xed\xa0\x80\xf4\x90\x80\x80",
    "äß漢字🦀\u{301}".as_bytes(),
    b"\xe6\xbc",
    b"\x9b31m\x90q\x9c",
];

fn passes(sent: &[u8], drawn: &[u8]) {
    let room = Room::supervised();
    room.client(DUMPS);
    std::fs::write(room.path("seen/size"), sent.len().to_string()).expect("a file");
    std::fs::write(room.path("seen/drawn"), drawn).expect("a file");
    let mut person = Person::runs(&room, &["--supervisor=native"]);
    person.sees("zq-ready").sends(sent).sees("zq-drawn");
    let shown = person.shown();
    let got = std::fs::read(room.path("seen/got")).expect("what the client read");
    assert!(got == sent, "{} bytes typed, {} came", sent.len(), got.len());
    let (_, rest) = split_at(&shown, b"zq-ready");
    let (came, _) = split_at(rest, b"zq-drawn");
    assert!(came == drawn, "{} bytes drawn, {} came", drawn.len(), came.len());
    assert_eq!(person.leaves().0, 0);
}

fn split_at<'a>(bytes: &'a [u8], mark: &[u8]) -> (&'a [u8], &'a [u8]) {
    let at = memchr::memmem::find(bytes, mark).expect("the mark");
    (&bytes[..at], &bytes[at + mark.len()..])
}

#[test]
fn every_byte_passes_in_both_directions() {
    passes(&every_byte(), &every_byte());
}

#[test]
fn what_terminals_and_programs_say_to_each_other_passes() {
    passes(&SPOKEN.concat(), &SPOKEN.concat());
}

#[test]
fn a_megabyte_that_is_pasted_arrives_as_it_is() {
    let line = b"one line of many, \xff and more\r";
    let text = line.repeat((1 << 20) / line.len());
    passes(&[b"\x1b[200~", text.as_slice(), b"\x1b[201~"].concat(), b"x");
}

/// As when somebody drags the edge of a window.
#[test]
fn of_many_sizes_the_last_one_counts() {
    let room = Room::supervised();
    let waits = "#!/bin/sh\n[ $# = 1 ] && exit\nprintf zq-ready\n\
                 until [ \"$(stty size)\" = '33 99' ]; do sleep 0.05; done\nprintf zq-as-it-is\n";
    room.client(waits);
    let mut person = Person::runs(&room, &["--supervisor=native"]);
    person.sees("zq-ready");
    for step in 0..100 {
        person.resizes(80 + step, 20 + step % 30);
    }
    person.resizes(99, 33).sees("zq-as-it-is");
    assert_eq!(person.leaves().0, 0);
}
