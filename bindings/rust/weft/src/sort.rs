// SPDX-License-Identifier: MIT
//! Sorting of numbers.

use crate::loops::expect_complete;
use crate::Context;
use weft_sys as sys;

/// What [`crate::sort`] can sort: u32, i32, u64, i64, f32 and f64.
pub trait Number: private::Number {}

mod private {
    pub trait Number: Copy + Send {
        const SORT: unsafe extern "C" fn(*mut super::sys::weft, *mut Self, usize);
    }
}

macro_rules! number {
    ($($type:ty, $sort:ident;)*) => {$(
        impl Number for $type {}
        impl private::Number for $type {
            const SORT: unsafe extern "C" fn(*mut sys::weft, *mut Self, usize) = sys::$sort;
        }
    )*};
}

number! {
    u32, weft_sort_u32;
    i32, weft_sort_i32;
    u64, weft_sort_u64;
    i64, weft_sort_i64;
    f32, weft_sort_f32;
    f64, weft_sort_f64;
}

impl Context<'_> {
    /// Sorts in place. Floats are in the order of `total_cmp`.
    pub fn sort<T: Number>(&mut self, numbers: &mut [T]) {
        let code = self.in_scope(|w| unsafe { T::SORT(w, numbers.as_mut_ptr(), numbers.len()) });
        expect_complete(code);
    }
}
