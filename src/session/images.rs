//! Images that the person puts into a message. The text refers to each (`[Image #1]`) everywhere:
//! in the queue, the recording, the review, and back at the person. Only the message to the client
//! contains the image itself.

use std::env;
use std::path::{Path, PathBuf};

use super::{Incoming, Session};
use crate::client::stream::{Image, message_with_images};
use crate::prompt::image;
use crate::review::prompt::FEEDBACK_PREFIX;
use crate::surface::ImageSource;
use crate::threads::named;

#[derive(Debug, Default)]
pub(super) struct Images {
    kept: Vec<Image>,
}

impl Images {
    fn keep(&mut self, image: Image) -> String {
        self.kept.push(image);
        name(self.kept.len())
    }

    /// The images that the text refers to. Feedback that mentions one sends none.
    fn named_in(&self, text: &str) -> Vec<&Image> {
        if self.kept.is_empty() || text.starts_with(FEEDBACK_PREFIX) {
            return Vec::new();
        }
        let kept = self.kept.iter().enumerate();
        kept.filter(|(at, _)| text.contains(&name(at + 1))).map(|(_, image)| image).collect()
    }

    pub(super) fn message(&self, uuid: &str, text: &str) -> Vec<u8> {
        message_with_images(uuid, text, &self.named_in(text))
    }
}

fn name(number: usize) -> String {
    format!("[Image #{number}]")
}

impl Session<'_> {
    pub(super) fn attach(&mut self, source: ImageSource) {
        let home = env::var_os("HOME");
        match source {
            ImageSource::Pasted(text) => match image::dropped_paths(&text, home.as_deref()) {
                Some(paths) => self.attach_dropped(&text, &paths),
                None => self.surface.attached(&text),
            },
            ImageSource::Path(typed) => {
                let path = image::path(&typed, home.as_deref()).unwrap_or_else(|| typed.into());
                let read = image::read(&self.setup.dir.join(path));
                self.image_found(read);
            }
            ImageSource::Clipboard => {
                let to_control = self.to_control.clone();
                // The session may be over by then.
                let started = named("clipboard", move || {
                    drop(to_control.send(Incoming::Image(image::clipboard())));
                });
                if let Err(error) = started {
                    self.image_found(Err(error.into()));
                }
            }
        }
    }

    /// Attaches all of the files, or pastes the text unchanged: the agent can read files by their
    /// names.
    fn attach_dropped(&mut self, text: &str, paths: &[PathBuf]) {
        if !paths.iter().all(|path| Path::is_file(path)) {
            return self.surface.attached(text);
        }
        match paths.iter().map(|path| image::read(path)).collect::<anyhow::Result<Vec<_>>>() {
            Ok(images) => {
                for image in images {
                    self.image_found(Ok(image));
                }
            }
            Err(error) => {
                self.surface.attached(text);
                let why =
                    format!("Pasted as text, since the agent can read the file itself: {error:#}.");
                self.surface.told(Err(why));
            }
        }
    }

    pub(super) fn image_found(&mut self, image: anyhow::Result<Image>) {
        match image {
            Ok(image) => {
                let name = self.images.keep(image);
                self.surface.attached(&name);
            }
            Err(error) => self.surface.told(Err(format!("No image was added: {error:#}."))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_contains_the_images_that_it_refers_to() {
        let mut images = Images::default();
        let image = |data: &str| Image { media_type: "image/png", data: data.to_owned() };
        assert_eq!(images.keep(image("b25l")), "[Image #1]");
        assert_eq!(images.keep(image("dHdv")), "[Image #2]");
        let sent = |text: &str| String::from_utf8(images.message("u", text)).unwrap();
        assert!(sent("no image").contains(r#""content":"no image""#));
        let both = sent("[Image #2] like [Image #1], not [Image #3]");
        assert!(both.contains(r#""data":"b25l""#) && both.contains(r#""data":"dHdv""#), "{both}");
        assert!(!sent("see [Image #2]").contains("b25l"));
        let feedback = sent(&format!("{FEEDBACK_PREFIX}\nSee [Image #1]."));
        assert!(!feedback.contains("b25l"), "{feedback}");
    }
}
