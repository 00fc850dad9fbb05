//! Which steps of which stories are played: all, those that a person names, or
//! the stories of one lane.

use anyhow::{Result, bail};

use super::{Length, Step, Story};

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Everything.
    All,
    /// The story of exactly this name, or else every step whose `story/step`
    /// contains this. Hyphens count as spaces, so that nothing needs quotes.
    Only(String),
    /// One step and those after it in its story.
    From(String),
    /// The stories of these names, for one lane of several.
    Stories(Vec<String>),
}

/// A story and those of its steps that are to be played.
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    /// The story.
    pub story: &'a Story,
    /// The steps, in its order.
    pub steps: Vec<&'a Step>,
}

/// As both what is asked for and what there is are compared.
fn plain(words: &str) -> String {
    words.to_lowercase().replace(['-', '_'], " ")
}

/// Does `story/step` mean this step? The part before the slash is the story's
/// whole name, or a part of it where no story has that name.
fn means(stories: &[Story], story: &Story, step: &Step, words: &str) -> bool {
    let words = plain(words);
    let Some((of, rest)) = words.split_once('/') else {
        return plain(&story.title(step)).contains(&words);
    };
    let named = plain(story.name);
    let is_whole = stories.iter().any(|s| plain(s.name) == of);
    let is_its = if is_whole { named == of } else { named.contains(of) };
    is_its && plain(step.name).contains(rest)
}

impl Choice {
    /// The chosen steps, in the order of the stories.
    ///
    /// # Errors
    /// Nothing is meant, or [`Choice::From`] means no one step.
    pub fn of<'a>(&self, stories: &'a [Story]) -> Result<Vec<Chosen<'a>>> {
        let chosen = match self {
            Self::All => pick(stories, |_, _| true),
            Self::Stories(names) => {
                if let Some(unknown) = names.iter().find(|n| stories.iter().all(|s| s.name != **n))
                {
                    bail!("no story has the name {unknown:?}");
                }
                pick(stories, |story, _| names.iter().any(|name| name == story.name))
            }
            Self::Only(words) if stories.iter().any(|s| plain(s.name) == plain(words)) => {
                pick(stories, |story, _| plain(story.name) == plain(words))
            }
            Self::Only(words) => pick(stories, |story, step| means(stories, story, step, words)),
            Self::From(words) => vec![from(stories, words)?],
        };
        if chosen.is_empty() {
            bail!("no step is meant by {self:?}; `cargo xtask test --list` names them all");
        }
        Ok(chosen)
    }

    /// Can what was asked for be played in a run of this length? The other steps
    /// of a whole story may be for the soak; the one that is named may not.
    ///
    /// # Errors
    /// It is for the soak.
    pub fn ensure_played(&self, chosen: &[Chosen], length: Length) -> Result<()> {
        let is_for_the_soak = |step: &&Step| step.length > length;
        let all = || chosen.iter().flat_map(|chosen| chosen.steps.iter().copied());
        if all().all(|step| is_for_the_soak(&step)) {
            bail!("these steps are for the soak: `cargo xtask soak --only` plays them");
        }
        let named = match self {
            Self::From(_) => all().next().filter(is_for_the_soak),
            Self::All | Self::Only(_) | Self::Stories(_) => None,
        };
        if let Some(step) = named {
            bail!("{:?} is for the soak: `cargo xtask soak --from` plays it", step.name);
        }
        Ok(())
    }
}

fn pick<'a>(stories: &'a [Story], is_meant: impl Fn(&Story, &Step) -> bool) -> Vec<Chosen<'a>> {
    let chosen = stories.iter().map(|story| Chosen {
        story,
        steps: story.steps.iter().filter(|step| is_meant(story, step)).collect(),
    });
    chosen.filter(|chosen| !chosen.steps.is_empty()).collect()
}

fn from<'a>(stories: &'a [Story], words: &str) -> Result<Chosen<'a>> {
    let meant = pick(stories, |story, step| means(stories, story, step, words));
    let [Chosen { story, steps }] = &meant[..] else {
        bail!(
            "{words:?} should mean a step of one story; `cargo xtask test --list` names them all"
        );
    };
    let first =
        story.steps.iter().position(|step| Some(&step.name) == steps.first().map(|s| &s.name));
    let steps = story.steps[first.unwrap_or_default()..].iter().collect();
    Ok(Chosen { story, steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stories() -> Vec<Story> {
        fn nothing() {}
        let roll =
            Story::named("roll").step("a canary stops alone", nothing).step("all are new", nothing);
        let zoned = Story::named("zoned-roll").step("a canary stops at one pod", nothing);
        let other = Story::named("zoned-active").step("one pod is active", nothing);
        vec![roll.into(), zoned.into(), other.into()]
    }

    fn names(choice: &Choice) -> Vec<String> {
        let stories = stories();
        let chosen = choice.of(&stories).expect("something is meant");
        let titles = |c: &Chosen| c.steps.iter().map(|s| c.story.title(s)).collect::<Vec<_>>();
        chosen.iter().flat_map(titles).collect()
    }

    fn only(words: &str) -> Vec<String> {
        names(&Choice::Only(words.into()))
    }

    #[test]
    fn a_storys_name_means_the_whole_story_and_no_other() {
        assert_eq!(only("roll"), ["roll/a canary stops alone", "roll/all are new"]);
    }

    #[test]
    fn a_step_is_meant_by_some_of_its_words() {
        assert_eq!(only("roll/canary"), ["roll/a canary stops alone"]);
        assert_eq!(only("roll/a-canary-stops"), ["roll/a canary stops alone"]);
        assert_eq!(only("zoned/canary"), ["zoned-roll/a canary stops at one pod"]);
        let both = ["roll/a canary stops alone", "zoned-roll/a canary stops at one pod"];
        assert_eq!(only("canary"), both);
        assert_eq!(only("zoned").len(), 2);
    }

    #[test]
    fn a_story_is_told_from_a_step_on() {
        let from = |words: &str| names(&Choice::From(words.into()));
        assert_eq!(from("roll/all"), ["roll/all are new"]);
        assert_eq!(from("roll/canary").len(), 2);
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        let stories = stories();
        for choice in [Choice::Only("nothing".into()), Choice::From("canary".into())] {
            let error = choice.of(&stories).expect_err("should be refused");
            assert!(error.to_string().contains("--list"), "{error}");
        }
    }

    #[test]
    fn a_lane_of_a_story_that_nobody_has_is_an_error() {
        let choice = Choice::Stories(vec!["roll".into(), "rolls".into()]);
        let error = choice.of(&stories()).expect_err("should be refused");
        assert!(error.to_string().contains("rolls"), "{error}");
    }

    #[test]
    fn a_step_for_the_soak_is_not_passed_over_where_it_is_named() {
        fn nothing() {}
        let story = Story::named("roll").step("first", nothing).step("long", nothing).in_soak();
        let stories = [Story::from(story.step("last", nothing))];
        let played = |choice: Choice, length: Length| {
            choice.ensure_played(&choice.of(&stories).expect("something is meant"), length)
        };
        let from_long = || Choice::From("roll/long".into());
        let error = played(from_long(), Length::Landing).expect_err("should be refused");
        assert!(error.to_string().contains("soak"), "{error}");
        played(from_long(), Length::Soak).expect("a soak plays it");
        played(Choice::Only("roll/long".into()), Length::Landing).expect_err("all is for the soak");
        played(Choice::From("roll/first".into()), Length::Landing).expect("the first is played");
        played(Choice::All, Length::Landing).expect("two of three are played");
    }
}
