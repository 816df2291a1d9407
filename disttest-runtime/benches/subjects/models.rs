//! Linearizability, by model, with the history that each is measured on.

use super::atomic::{Act, atomic};
use super::subjects::{Subject, objects, subject};
use disttest_runtime::checker::{Checker, Linearizability};
use disttest_runtime::history::History;
use disttest_runtime::history::generate::{self, Object};
use disttest_runtime::model::{CasRegister, Log, MapModel, Model, Queue, Register, SetModel, Stack};

/// Linearizability, by model. Registers, maps and logs have 30 keys; the other objects are one.
pub(crate) const MODELS: &[Subject] = &[
    subject("register", |n| objects(Object::Register, None, n), || per_key(Register::new())),
    subject("register, five values", |n| objects(Object::Register, Some(5), n), || per_key(Register::new())),
    subject("cas-register", |n| objects(Object::CasRegister, None, n), || per_key(Register::new())),
    subject("cas-register, five values", |n| objects(Object::CasRegister, Some(5), n), || per_key(Register::new())),
    subject("cas-register, one key", one_register, || Box::new(Linearizability::whole(CasRegister::new()))),
    subject("map", |n| objects(Object::Map, None, n), || Box::new(Linearizability::whole(MapModel::new()))),
    subject("log", |n| objects(Object::Log, None, n / 10), || per_key(Log::new())),
    subject("queue", |n| atomic(10, n, 10, Act::Queue), || Box::new(Linearizability::whole(Queue::new()))),
    subject("stack", |n| atomic(10, n, 10, Act::Stack), || Box::new(Linearizability::whole(Stack::new()))),
    subject("set", |n| atomic(10, n, 10, Act::Set), || Box::new(Linearizability::whole(SetModel::new()))),
];

fn per_key<M: Model + 'static>(model: M) -> Box<dyn Checker> {
    Box::new(Linearizability::per_key(model))
}

fn one_register(operations: u64) -> History {
    let shape = generate::Shape { object: Object::CasRegister, clients: 10, operations, ..generate::Shape::default() };
    generate::history(generate::Shape { unknown: 0, values: Some(5), ..shape }, 1)
}
