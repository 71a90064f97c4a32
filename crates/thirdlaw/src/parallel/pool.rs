//! The pool of threads: rayon's, the caller's own where a world is stepped inside of it, and none without the
//! feature `parallel`. Then everything runs on the caller's thread, in the same order and with the same bits:
//! this module has the same names, and they do one thing after the other.

#[cfg(feature = "parallel")]
pub(crate) use rayon::{current_num_threads, join, prelude, scope};

#[cfg(not(feature = "parallel"))]
pub(crate) use alone::{current_num_threads, join, prelude, scope};

/// What stands for rayon where there is no pool.
#[cfg(not(feature = "parallel"))]
mod alone {
    /// One after the other.
    pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
        let first = a();
        (first, b())
    }

    /// The caller's thread.
    pub(crate) fn current_num_threads() -> usize {
        1
    }

    /// Runs `work` where it is called.
    pub(crate) fn scope<R>(work: impl FnOnce(&()) -> R) -> R {
        work(&())
    }

    pub(crate) mod prelude {
        pub(crate) use super::{Extend, IntoSerial, Slices};
    }

    /// An iterator with the methods of a parallel one.
    pub(crate) struct Serial<I>(I);

    impl<I: Iterator> Serial<I> {
        pub(crate) fn with_min_len(self, _: usize) -> Serial<I> {
            self
        }

        pub(crate) fn zip<Z: IntoSerial>(self, other: Z) -> Serial<std::iter::Zip<I, Z::Iter>> {
            Serial(self.0.zip(other.into_par_iter().0))
        }

        pub(crate) fn chain<Z: IntoSerial<Item = I::Item>>(
            self,
            other: Z,
        ) -> Serial<std::iter::Chain<I, Z::Iter>> {
            Serial(self.0.chain(other.into_par_iter().0))
        }

        pub(crate) fn enumerate(self) -> Serial<std::iter::Enumerate<I>> {
            Serial(self.0.enumerate())
        }

        pub(crate) fn map<T, F: FnMut(I::Item) -> T>(self, f: F) -> Serial<std::iter::Map<I, F>> {
            Serial(self.0.map(f))
        }

        pub(crate) fn filter<F: FnMut(&I::Item) -> bool>(
            self,
            f: F,
        ) -> Serial<std::iter::Filter<I, F>> {
            Serial(self.0.filter(f))
        }

        pub(crate) fn filter_map<T, F: FnMut(I::Item) -> Option<T>>(
            self,
            f: F,
        ) -> Serial<std::iter::FilterMap<I, F>> {
            Serial(self.0.filter_map(f))
        }

        pub(crate) fn for_each(self, f: impl FnMut(I::Item)) {
            self.0.for_each(f);
        }

        pub(crate) fn all(mut self, f: impl FnMut(I::Item) -> bool) -> bool {
            self.0.all(f)
        }

        pub(crate) fn position_first(mut self, f: impl FnMut(I::Item) -> bool) -> Option<usize> {
            self.0.position(f)
        }

        pub(crate) fn sum<S: std::iter::Sum<I::Item>>(self) -> S {
            self.0.sum()
        }

        pub(crate) fn reduce(
            self,
            first: impl Fn() -> I::Item,
            join: impl Fn(I::Item, I::Item) -> I::Item,
        ) -> I::Item {
            self.0.fold(first(), join)
        }

        pub(crate) fn collect<C: FromIterator<I::Item>>(self) -> C {
            self.0.collect()
        }
    }

    /// What can be gone through.
    pub(crate) trait IntoSerial {
        type Item;
        type Iter: Iterator<Item = Self::Item>;
        fn into_par_iter(self) -> Serial<Self::Iter>;
    }

    impl<I: Iterator> IntoSerial for Serial<I> {
        type Item = I::Item;
        type Iter = I;
        fn into_par_iter(self) -> Serial<I> {
            self
        }
    }

    macro_rules! references {
        ($($kind:ty),*) => {$(
            impl<'a, T> IntoSerial for &'a $kind {
                type Item = &'a T;
                type Iter = std::slice::Iter<'a, T>;
                fn into_par_iter(self) -> Serial<Self::Iter> {
                    Serial(self.iter())
                }
            }

            impl<'a, T> IntoSerial for &'a mut $kind {
                type Item = &'a mut T;
                type Iter = std::slice::IterMut<'a, T>;
                fn into_par_iter(self) -> Serial<Self::Iter> {
                    Serial(self.iter_mut())
                }
            }
        )*};
    }

    references!([T], Vec<T>);

    impl<A: IntoSerial, B: IntoSerial, C: IntoSerial, D: IntoSerial, E: IntoSerial> IntoSerial
        for (A, B, C, D, E)
    {
        type Item = (A::Item, B::Item, C::Item, D::Item, E::Item);
        type Iter = Together<(A::Iter, B::Iter, C::Iter, D::Iter, E::Iter)>;
        fn into_par_iter(self) -> Serial<Self::Iter> {
            let (a, b, c, d, e) = self;
            let all = (a.into_par_iter().0, b.into_par_iter().0, c.into_par_iter().0);
            let (d, e) = (d.into_par_iter().0, e.into_par_iter().0);
            Serial(Together((all.0, all.1, all.2, d, e)))
        }
    }

    impl<A, B, C, D, E, F> IntoSerial for (A, B, C, D, E, F)
    where
        A: IntoSerial,
        B: IntoSerial,
        C: IntoSerial,
        D: IntoSerial,
        E: IntoSerial,
        F: IntoSerial,
    {
        type Item = (A::Item, B::Item, C::Item, D::Item, E::Item, F::Item);
        type Iter = Together<(A::Iter, B::Iter, C::Iter, D::Iter, E::Iter, F::Iter)>;
        fn into_par_iter(self) -> Serial<Self::Iter> {
            let (a, b, c, d, e, f) = self;
            let (a, b, c) = (a.into_par_iter().0, b.into_par_iter().0, c.into_par_iter().0);
            let (d, e, f) = (d.into_par_iter().0, e.into_par_iter().0, f.into_par_iter().0);
            Serial(Together((a, b, c, d, e, f)))
        }
    }

    /// Several iterators that advance together.
    pub(crate) struct Together<T>(T);

    macro_rules! together {
        ($($name:ident $place:tt),*) => {
            impl<$($name: Iterator),*> Iterator for Together<($($name,)*)> {
                type Item = ($($name::Item,)*);
                fn next(&mut self) -> Option<Self::Item> {
                    Some(($(self.0.$place.next()?,)*))
                }
            }
        };
    }

    together!(A 0, B 1, C 2, D 3, E 4);
    together!(A 0, B 1, C 2, D 3, E 4, F 5);

    /// The beginnings of chains on slices.
    pub(crate) trait Slices<T> {
        fn slice(&self) -> &[T];
        fn slice_mut(&mut self) -> &mut [T];

        fn par_iter(&self) -> Serial<std::slice::Iter<'_, T>> {
            Serial(self.slice().iter())
        }

        fn par_iter_mut(&mut self) -> Serial<std::slice::IterMut<'_, T>> {
            Serial(self.slice_mut().iter_mut())
        }

        fn par_chunks(&self, size: usize) -> Serial<std::slice::Chunks<'_, T>> {
            Serial(self.slice().chunks(size))
        }

        fn par_chunks_mut(&mut self, size: usize) -> Serial<std::slice::ChunksMut<'_, T>> {
            Serial(self.slice_mut().chunks_mut(size))
        }
    }

    impl<T> Slices<T> for [T] {
        fn slice(&self) -> &[T] {
            self
        }

        fn slice_mut(&mut self) -> &mut [T] {
            self
        }
    }

    /// Vectors that take in what an iterator gives.
    pub(crate) trait Extend<T> {
        fn par_extend<Z: IntoSerial<Item = T>>(&mut self, other: Z);
    }

    impl<T> Extend<T> for Vec<T> {
        fn par_extend<Z: IntoSerial<Item = T>>(&mut self, other: Z) {
            self.extend(other.into_par_iter().0);
        }
    }
}
