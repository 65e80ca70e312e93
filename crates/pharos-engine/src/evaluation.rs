//! Test data for evaluations, made from the stored pages.

pub mod known_items;
mod misspelling;
mod seeded_choice;
