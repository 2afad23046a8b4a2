use super::*;
use crate::event::Event;
use crate::machine::Rules;
use crate::record::sample::SampleRecording;

const HERE: &str = "/p/here";

fn shelf() -> tempfile::TempDir {
    let shelf = tempfile::tempdir().unwrap();
    let begin = |id: &str, began: &str| {
        let dir = shelf.path().join("sessions").join(id);
        let mut sample = SampleRecording::begin(&dir, began, Rules::default());
        sample.event(Event::Start { prompt: None });
        sample
    };
    let mut one = begin("aaaaaaaa-1", "2026-01-14T08:00:00Z");
    one.said("把测试修好,\x1b[31m然后提交\nand more").turn("aaaaaaaa-1", "built", 0.25);
    one.verdict(true, "fine");
    one.end(Outcome::Ended);
    begin("bbbbbbbb-1", "2026-01-15T08:00:00Z").said("a task that is rather long, and goes on");
    shelf
}

fn listed(width: usize, here: &str) -> String {
    let shelf = shelf();
    let stories = story::all(shelf.path());
    let now: Zoned = "2026-01-15T12:00:00Z[UTC]".parse().unwrap();
    rows(&stories, ID, Path::new(here), &now, width, Glyphs::unicode())
}

#[test]
fn one_line_each_the_newest_first() {
    assert_eq!(
        listed(120, HERE),
        "WHEN             ID        OUTCOME    ROUNDS  TIME  COST   TASK\n\
         today 08:00      bbbbbbbb  cut off    0       0s    -      a task that is rather long, and goes on\n\
         yesterday 08:00  aaaaaaaa  confirmed  1       15s   $0.26  把测试修好,然后提交\n"
    );
}

#[test]
fn tasks_are_cut_to_the_screen() {
    for (width, most) in [(80, 80), (75, 75), (20, 72)] {
        let text = listed(width, HERE);
        let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= most && text.contains('…'), "{width}: {widest}\n{text}");
    }
}

#[test]
fn the_project_is_shown_where_it_is_another_one() {
    let text = listed(120, "/p/moved");
    assert!(text.starts_with("WHEN ") && text.contains("  PROJECT  TASK\n"), "{text}");
    assert!(text.contains("  here     a task"), "{text}");
}

#[test]
fn ids_are_as_long_as_it_takes_to_tell_them_apart() {
    let length = |ids: &[&str]| id_length(ids.iter().copied());
    assert_eq!(length(&["aaaaaaaa-1", "bbbbbbbb-1"]), 8);
    assert_eq!(length(&["aaaaaaaa-1", "bbbbbbbb-1", "aaaaaaaa-2"]), 10);
    assert_eq!(length(&[]), 8);
}

#[test]
fn only_what_is_listed_is_read() {
    let shelf = shelf();
    let dated = story::dated(shelf.path());
    let ids: Vec<_> = dated.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["bbbbbbbb-1", "aaaaaaaa-1"], "the newest first");
    let mut stories = story::summaries(&dated);
    assert_eq!(stories.next().map(|story| story.id), Some("bbbbbbbb-1".into()));
    std::fs::remove_dir_all(&dated[1].dir).unwrap();
    assert!(stories.next().is_none(), "it was not read before it was asked for");
}

#[test]
fn a_signal_has_its_name() {
    let shelf = tempfile::tempdir().unwrap();
    let dir = shelf.path().join("sessions/cccccccc-1");
    let mut sample = SampleRecording::begin(&dir, "2026-01-14T08:00:00Z", Rules::default());
    sample.said("do it").end(Outcome::Signal(1));
    assert_eq!(outcome(&story::all(shelf.path())[0]), "ended by SIGHUP");
}
