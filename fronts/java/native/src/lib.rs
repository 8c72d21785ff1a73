//! The native half of headwater.jar, called through JNI on Java 8 to 21 and through the FFM API
//! from Java 22 on.
//!
//! Both doors lead to the functions of `calls`. A result of 0 is success, a positive one an errno,
//! and a negative one of `calls::REFUSED` and its neighbours; Java turns them into exceptions.

#![no_std]

mod calls;
mod distributions;
mod ffm;
mod jni;
mod jvm;
mod libc_name;
mod numbers;
mod runtime;
