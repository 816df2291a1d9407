//! The shape of a scenario function, checked here because the compiler's own errors would point at generated code.

use crate::ast::Errors;
use syn::spanned::Spanned;
use syn::{FnArg, GenericArgument, ItemFn, PathArguments, ReturnType, Type};

pub(crate) fn check(function: &ItemFn, errors: &mut Errors) {
    let signature = &function.sig;
    if let Some(attribute) = function.attrs.iter().find(|a| a.path().segments.last().is_some_and(|s| s.ident == "test"))
    {
        errors.add(attribute.span(), "a scenario is run by the disttest harness: remove this test attribute");
    }
    for (present, span, what) in [
        (!matches!(signature.safety, syn::Safety::Default), signature.safety.span(), "unsafe"),
        (signature.abi.is_some(), signature.abi.span(), "extern"),
        (signature.constness.is_some(), signature.constness.span(), "const"),
        (!signature.generics.params.is_empty(), signature.generics.span(), "generic"),
    ] {
        if present {
            errors.add(
                span,
                format!(
                    "a scenario cannot be {what}: write `async fn {}(run: Run) -> Result<Judged>`",
                    signature.ident
                ),
            );
        }
    }
    let takes_run = matches!(signature.inputs.first(), Some(FnArg::Typed(arg)) if last_segment(&arg.ty).is_some_and(|s| s == "Run"));
    if signature.inputs.len() != 1 || !takes_run {
        let span = if signature.inputs.is_empty() { signature.ident.span() } else { signature.inputs.span() };
        errors.add(span, "a scenario takes exactly one argument, the run: `run: Run`");
    }
    if !returns_judged(&signature.output) {
        let span = match &signature.output {
            ReturnType::Default => signature.ident.span(),
            ReturnType::Type(_, ty) => ty.span(),
        };
        errors.add(
            span,
            "a scenario returns `Result<Judged>`: only `run.oracle(history).check(…).judge(landed)` makes a `Judged`, \
             so a test without an oracle does not compile",
        );
    }
}

fn last_segment(ty: &Type) -> Option<&syn::Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

fn returns_judged(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Type::Path(path) = &**ty else { return false };
    let Some(segment) = path.path.segments.last().filter(|segment| segment.ident == "Result") else { return false };
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
    matches!(arguments.args.first(), Some(GenericArgument::Type(ty)) if last_segment(ty).is_some_and(|s| s == "Judged"))
}
