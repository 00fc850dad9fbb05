//! The program that plays the stories: what it is asked for on the command
//! line, in the end the runner's last act, which looks back on the whole run.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;

use super::choice::{Choice, Chosen};
use super::lanes::balanced;
use super::outcome::Report;
use super::runner::{Remains, Runner};
use super::stage::Testbed;
use super::{Durations, Length, Machines, Story};

/// All there is to play.
pub struct Suite {
    /// The stories, in no order that anything depends on.
    pub stories: Vec<Story>,
    /// Looks back on all testbeds of a run that has played all stories.
    pub last_act: Story,
    /// Looks back on a run that has played only some.
    pub last_act_of_a_part: Story,
}

#[derive(Parser)]
#[command(about = "Stories on a testbed; `cargo xtask test` makes one and calls this")]
struct Arguments {
    /// Name the chosen steps instead of playing them
    #[arg(long)]
    list: bool,
    /// Name the stories of so many testbeds, those of one on a line, instead of playing them
    #[arg(long, value_name = "TESTBEDS")]
    lanes: Option<usize>,
    /// The story of this name, or the steps whose `story/step` contains this
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["from", "stories", "last_act"])]
    only: Option<String>,
    /// A step, and those after it in its story
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["stories", "last_act"])]
    from: Option<String>,
    /// A story of this lane, without the last act
    #[arg(long = "story", value_name = "NAME", conflicts_with = "last_act")]
    stories: Vec<String>,
    /// Nothing but the look back on all testbeds of the run
    #[arg(long)]
    last_act: bool,
    /// Play nothing more after a failure, and leave everything as it stands
    #[arg(long)]
    keep: bool,
}

impl Arguments {
    fn choice(&self) -> Choice {
        match (&self.only, &self.from) {
            (Some(words), _) => Choice::Only(words.clone()),
            (None, Some(words)) => Choice::From(words.clone()),
            (None, None) if self.stories.is_empty() => Choice::All,
            (None, None) => Choice::Stories(self.stories.clone()),
        }
    }

    fn last_act<'a>(&self, suite: &'a Suite, choice: &Choice) -> Option<&'a Story> {
        if self.last_act {
            return Some(&suite.last_act);
        }
        match choice {
            Choice::All => Some(&suite.last_act),
            Choice::Only(_) | Choice::From(_) => Some(&suite.last_act_of_a_part),
            // Other testbeds have other lanes: who started them all looks back.
            Choice::Stories(_) => None,
        }
    }
}

/// Play what the command line asks for.
pub fn main(suite: &Suite) -> ExitCode {
    match run(suite, &Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(suite: &Suite, arguments: &Arguments) -> Result<ExitCode> {
    let durations = Durations::recorded()?;
    let length = Length::of_this_run();
    if let Some(lanes) = arguments.lanes {
        for lane in balanced(&suite.stories, &durations, length, lanes) {
            println!("{}", lane.stories.join(" "));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let choice = arguments.choice();
    let chosen = if arguments.last_act { vec![] } else { choice.of(&suite.stories)? };
    if arguments.list {
        list(&chosen, &durations, length);
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.last_act {
        choice.ensure_played(&chosen, length)?;
    }
    let remains = if arguments.keep { Remains::Kept } else { Remains::ClearedAway };
    play(&chosen, arguments.last_act(suite, &choice), length, remains)
}

fn list(chosen: &[Chosen], durations: &Durations, length: Length) {
    for Chosen { story, steps } in chosen {
        let machines = match story.machines {
            Machines::LeftAlone => "",
            Machines::Broken => ", which it breaks",
        };
        let seconds = durations.expected(length, story);
        println!("{}: machines {}{machines}; about {seconds} s", story.name, story.nodes);
        let mut ring = None;
        for step in steps {
            if let Some(wanted) = step.ring.as_ref().filter(|_| step.ring.as_ref() != ring) {
                println!("  on a ring ({wanted})");
            }
            ring = step.ring.as_ref();
            let length = match step.length {
                Length::Landing => "",
                Length::Soak => " (soak)",
            };
            println!("  {}{length}", story.title(step));
        }
    }
}

fn play(
    chosen: &[Chosen],
    last_act: Option<&Story>,
    length: Length,
    remains: Remains,
) -> Result<ExitCode> {
    let begin = Instant::now();
    let mut stage = Testbed::attach().context("looking at the testbed")?;
    let mut runner = Runner { stage: &mut stage, length, remains, report: Report::default() };
    runner.run(chosen);
    if let Some(story) = last_act {
        runner.look_back(&Chosen { story, steps: story.steps.iter().collect() });
    }
    let report = runner.report;
    report.close(begin.elapsed());
    Ok(if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
