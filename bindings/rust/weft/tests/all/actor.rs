// SPDX-License-Identifier: MIT
//! An actor of a C program calls Rust code: it is refused.

use crate::quietly;
use std::os::raw::{c_int, c_uint, c_void};
use std::panic::catch_unwind;
use std::ptr::null_mut;
use weft_sys as sys;

type ActorFn = unsafe extern "C" fn(*mut sys::weft, *mut c_void) -> c_int;

extern "C" {
    fn weft_actor_create_(
        actor: *mut *mut sys::weft_actor,
        pool: *mut sys::weft_pool,
        f: ActorFn,
        arg: *mut c_void,
        config: *const c_void,
        layout: c_uint,
    ) -> c_int;
    fn weft_actor_run(actor: *mut sys::weft_actor) -> c_int;
    fn weft_actor_wait(w: *mut sys::weft, actor: *mut sys::weft_actor) -> c_int;
    fn weft_actor_release(actor: *mut sys::weft_actor);
}

fn refusal(f: fn()) -> String {
    *catch_unwind(f).unwrap_err().downcast::<&str>().map(|text| Box::new(text.to_string())).unwrap()
}

unsafe extern "C" fn actor(_: *mut sys::weft, refusals: *mut c_void) -> c_int {
    let refusals = &mut *refusals.cast::<Vec<String>>();
    refusals.push(refusal(|| weft::join(|| (), || ()).0));
    refusals.push(refusal(|| weft::for_each_index(0..10, |_| ())));
    refusals.push(refusal(|| weft::Pool::new(1).unwrap().run(|_| ())));
    0
}

#[test]
fn rust_in_an_actor_is_refused() {
    let mut refusals = Vec::<String>::new();
    let arg: *mut Vec<String> = &mut refusals;
    unsafe {
        let mut handle = null_mut();
        let config = std::ptr::null();
        let layout = sys::LAYOUT;
        assert_eq!(
            weft_actor_create_(&mut handle, null_mut(), actor, arg.cast(), config, layout),
            0
        );
        quietly(|| {
            weft_actor_run(handle);
            assert_eq!(weft_actor_wait(null_mut(), handle), 0);
        });
        weft_actor_release(handle);
    }
    assert_eq!(refusals.len(), 3);
    assert!(refusals.iter().all(|text| text.contains("Rust can't compute in an actor")));
}
