//! What a user says about a rigid body when adding it to a world.
