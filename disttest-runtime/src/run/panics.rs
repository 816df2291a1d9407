//! Panics as values, with the place they happened at.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

thread_local! {
    /// Place of the last panic on this thread.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Remembers the place of each panic from now on; the hook that was there before still prints it.
pub(crate) fn remember_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|at| format!("{}:{}:{}", at.file(), at.line(), at.column()));
            PLACE.with(|slot| *slot.borrow_mut() = place);
            before(info);
        }));
    });
}

/// The message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic whose payload is no text".to_owned())
}

/// Runs `work`; a panic becomes its message and place.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| with_place(&*panic))
}

fn with_place(panic: &(dyn Any + Send)) -> String {
    let place = PLACE.with(|slot| slot.borrow_mut().take());
    match place {
        Some(place) => format!("{} (at {place})", message(panic)),
        None => message(panic),
    }
}

/// A future that yields a panic of `inner` as an error.
#[derive(Debug)]
pub(crate) struct Caught<F> {
    inner: Pin<Box<F>>,
}

impl<F: Future> Caught<F> {
    /// Catches the panics of `inner`.
    pub(crate) fn new(inner: F) -> Caught<F> {
        Caught { inner: Box::pin(inner) }
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match caught(|| self.inner.as_mut().poll(cx)) {
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_future_carries_message_and_place() {
        remember_places();
        let panicking = async {
            if std::hint::black_box(true) {
                panic!("no {}", "way")
            }
        };
        let said = Caught::new(panicking).await.expect_err("it panicked");
        assert!(said.starts_with("no way (at ") && said.contains("panics.rs:"), "{said}");
        assert_eq!(Caught::new(async { 7 }).await, Ok(7));
    }
}
