//! What is done for every energy in the list: written once here, made for each kind by the compiler.

/// From the list of energies: their elements, what they contribute at one state, and the rows that
/// this goes to, with a field for each energy.
macro_rules! energies {
    ($($field:ident: $set:ty),* $(,)?) => {
        /// Elements of every energy.
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
        pub struct Energies {
            $(
                /// Elements of this energy.
                pub $field: $set,
            )*
        }

        /// What the elements of every energy contribute at one state.
        #[derive(Clone, Debug, Default)]
        pub struct Contributions {
            $($field: <$set as Energy>::Parts,)*
        }

        /// Which elements of every energy each row has.
        #[derive(Clone, Debug, Default)]
        struct Scatter {
            $($field: assemble::ElementRows<$set>,)*
        }

        $(
            impl From<$set> for Energies {
                fn from(set: $set) -> Energies {
                    Energies { $field: set, ..Energies::default() }
                }
            }
        )*

        impl Energies {
            /// Strings other elements behind these; their nodes are counted from `first`.
            pub fn append(&mut self, other: &Energies, first: u32) {
                $(self.$field.append(&other.$field, first);)*
            }

            /// Number of all elements.
            pub fn len(&self) -> usize {
                0 $(+ self.$field.len())*
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether all nodes are among so many particles.
            pub fn check_nodes(&self, particles: usize) -> Result<(), ElementError> {
                $(assemble::check_nodes(&self.$field, particles)?;)*
                Ok(())
            }

            /// Feeds every number that defines the elements to `hasher`.
            pub fn fingerprint(&self, hasher: &mut dyn Hasher) {
                $(self.$field.fingerprint(hasher);)*
            }

            /// Adds what each node gets from its elements, kg.
            pub fn add_masses(&self, masses: &mut [f64]) {
                $(assemble::add_masses(&self.$field, masses);)*
            }

            /// Edges of all elements, as often as they have them, and the squares of their lengths
            /// at rest, m².
            pub fn rest_edges(&self) -> Vec<([u32; 2], f64)> {
                let mut edges = Vec::new();
                let mut add = |nodes, square| edges.push((nodes, square));
                $((0..self.$field.len()).for_each(|e| self.$field.rest_edges(e, &mut add));)*
                edges
            }

            /// Calls `take` with the nodes of each element.
            pub(crate) fn each_element(&self, mut take: impl FnMut(&[u32])) {
                $(
                    for element in 0..self.$field.len() {
                        take(self.$field.nodes(element).as_ref());
                    }
                )*
            }

            /// Calls `take` with the name of each element's energy and its value, J.
            pub fn each_energy(&self, x: &[Vec3], mut take: impl FnMut(&'static str, f64)) {
                $(
                    for element in 0..self.$field.len() {
                        take(<$set>::NAME, self.$field.energy(element, x));
                    }
                )*
            }

            /// Stiffness of the stiffest element over a step of `h` seconds relative to its mass,
            /// with edges of this mean length (m).
            pub fn stiffness_ratio(&self, h: f64, edge: f64) -> f64 {
                0.0_f64 $(.max(self.$field.stiffness_ratio(h, edge)))*
            }

            /// Largest tensile strain of any element; infinite where one is not a number.
            pub fn largest_strain(&self, x: &[Vec3]) -> f64 {
                0.0_f64 $(.max(self.$field.largest_strain(x)))*
            }

            /// A block for every pair of nodes of every element.
            fn pattern(&self, rows: usize) -> crate::linalg::block::Pattern {
                $(let $field = assemble::around(&self.$field, rows);)*
                crate::linalg::block::Pattern::new(rows, |row, columns| {
                    $(assemble::add_columns(&self.$field, $field.row(row), columns);)*
                })
            }

            /// The rows that elements add to.
            fn scatter(&self, pattern: &crate::linalg::block::Pattern) -> Scatter {
                Scatter { $($field: assemble::element_rows(&self.$field, pattern),)* }
            }
        }

        impl Contributions {
            /// Evaluates every element at `x0`, the beginning of a step of `h` seconds.
            pub fn begin(&mut self, energies: &Energies, x0: &[Vec3], h: f64) {
                $(energies.$field.begin(x0, h, &mut self.$field);)*
            }

            /// Evaluates every element at x₁, in the step that [`Self::begin`] was called for.
            pub fn evaluate(&mut self, energies: &Energies, step: &Step) {
                $(energies.$field.evaluate(step, &mut self.$field);)*
            }

            /// Energy of all elements at x₁, and what damping takes, J.
            pub fn energy_since(&mut self, energies: &Energies, step: &Step) -> f64 {
                0.0 $(+ energies.$field.energy_since(step, &mut self.$field))*
            }

            /// Forces that the linearization at `x0` leaves out when nodes move at `velocity`; by
            /// how much strain they have changed since the last call.
            pub fn overshoot(
                &mut self,
                energies: &Energies,
                x0: &[Vec3],
                velocity: impl Fn(u32) -> Vec3 + Sync,
                h: f64,
            ) -> f64 {
                0.0_f64
                    $(.max(energies.$field.overshoot(x0, &velocity, h, &mut self.$field)))*
            }
        }

        impl Scatter {
            /// Forces and blocks of a row.
            #[inline(always)]
            fn assemble_row<T: Scalar>(
                &self,
                (energies, parts): (&Energies, &Contributions),
                row: usize,
                blocks: &mut [Block<T>],
            ) -> Vec3 {
                let mut force = Vec3::ZERO;
                $(
                    force += assemble::row(
                        (&energies.$field, &parts.$field),
                        self.$field.row(row),
                        blocks,
                    );
                )*
                force
            }

            /// Forces on the node of a row that the linearization leaves out.
            fn overshoot_row(
                &self,
                (energies, parts): (&Energies, &Contributions),
                row: usize,
            ) -> Vec3 {
                let mut force = Vec3::ZERO;
                $(
                    if <$set>::OVERSHOOTS {
                        let set = (&energies.$field, &parts.$field);
                        assemble::add_overshoot(set, self.$field.row(row), &mut force);
                    }
                )*
                force
            }
        }
    };
}

pub(super) use energies;
