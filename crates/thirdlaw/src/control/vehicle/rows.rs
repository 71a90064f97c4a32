//! The rows of all wheels through one step, and projected Gauss–Seidel over them.

use super::super::support::Support;
use super::wheel::{Wheel, WheelSettings};
use crate::ids::BodyId;
use crate::math::mass::BodyMass;
use crate::math::{Vec3, rotation_from_vector};
use crate::model::body::mass::body_mass;
use crate::model::error::{EditError, error};
use crate::world::{Filter, Ray, World};

/// Sweeps over all rows: those of a truck of ten wheels have settled to six digits by then.
const SWEEPS: usize = 60;
/// Least cosine between a strut and the normal of what carries it.
const UPRIGHT: f64 = 0.1;
/// Share of what a strut is pushed in beyond its stop that one step takes back.
const TAKEN_BACK: f64 = 0.2;

/// The chassis and what its wheels stand on, as they move at the end of the step.
struct Moving {
    body: BodyId,
    center: Vec3,
    mass: BodyMass,
    linear: Vec3,
    angular: Vec3,
}

impl Moving {
    fn new(world: &World, body: BodyId) -> Result<Moving, EditError> {
        let motion = world.velocity(body)?;
        Ok(Moving {
            body,
            center: world.center(body)?,
            mass: body_mass(world.body(body)?, world.pose(body)?.rotation),
            linear: motion.linear,
            angular: motion.angular,
        })
    }

    fn at(&self, point: Vec3) -> Vec3 {
        self.linear + self.angular.cross(point - self.center)
    }

    /// An impulse (N·s) at a point.
    fn push(&mut self, impulse: Vec3, point: Vec3) {
        self.linear += self.mass.inv_mass * impulse;
        self.turn((point - self.center).cross(impulse));
    }

    /// An angular impulse, N·m·s.
    fn turn(&mut self, impulse: Vec3) {
        self.angular += self.mass.inv_inertia * impulse;
    }

    /// How an impulse along a line changes the velocity along it, 1/kg.
    fn mobility(&self, point: Vec3, axis: Vec3) -> f64 {
        let arm = (point - self.center).cross(axis);
        axis.dot(self.mass.inv_mass * axis) + arm.dot(self.mass.inv_inertia * arm)
    }
}

/// Spin of a wheel, and the impulse of its brake.
struct Spin {
    /// Along the axle, world axes.
    axle: Vec3,
    inertia: f64,
    /// rad/s.
    rate: f64,
    /// N·m·s.
    drive: f64,
    brake: f64,
}

/// A wheel that stands on something. Impulses in N·s.
struct Patch {
    wheel: usize,
    road: Support,
    /// Which of the moving bodies the road is.
    road_body: Option<usize>,
    normal: Vec3,
    forwards: Vec3,
    sideways: Vec3,
    /// Where the tyre's force forwards acts on the chassis; the moment about it goes into the spin.
    hub: Vec3,
    /// How far the strut is pushed in, and how far up to its stop, along the normal, m.
    pushed: f64,
    room: f64,
    spring: f64,
    stop: f64,
    along: f64,
    across: f64,
    slip: f64,
}

/// All rows of a vehicle through one step.
pub(super) struct Rows {
    /// The chassis first.
    bodies: Vec<Moving>,
    spins: Vec<Spin>,
    patches: Vec<Patch>,
}

impl Rows {
    /// What wheels stand on, and how everything would move if no wheel did anything but be driven.
    pub fn find(
        world: &World,
        chassis: BodyId,
        wheels: &[Wheel],
        dt: f64,
    ) -> Result<Rows, EditError> {
        let mut body = Moving::new(world, chassis)?;
        let pose = world.pose(chassis)?;
        let gravity = world.body(chassis)?.gravity_scale * world.settings().gravity;
        let pushed = world.body_states()[chassis.index as usize].push;
        let free = body.mass.inv_mass.cmpgt(Vec3::ZERO);
        body.linear += Vec3::select(free, dt * gravity, Vec3::ZERO);
        body.linear += dt * (body.mass.inv_mass * pushed.force);
        body.turn(dt * pushed.torque);
        let mut rows = Rows { bodies: vec![body], spins: Vec::new(), patches: Vec::new() };
        for (number, wheel) in wheels.iter().enumerate() {
            let settings = &wheel.settings;
            let down = settings.down.normalize();
            let steer = rotation_from_vector(-wheel.steer * down);
            let across = settings.axle.reject_from_normalized(down).normalize();
            let axle = pose.rotation * (steer * across);
            let drive = dt * wheel.drive;
            let rate = wheel.spin + drive / settings.inertia;
            rows.bodies[0].turn(-drive * axle);
            rows.spins.push(Spin { axle, inertia: settings.inertia, rate, drive, brake: 0.0 });
            let strut = (pose * settings.mount, pose.rotation * down);
            if let Some(mut patch) = touch(world, chassis, settings, strut, axle)? {
                patch.wheel = number;
                patch.road_body = rows.road_body(world, &patch.road)?;
                rows.patches.push(patch);
            }
        }
        Ok(rows)
    }

    /// The road among the moving bodies. What carries it is taken to go on carrying it.
    fn road_body(&mut self, world: &World, road: &Support) -> Result<Option<usize>, EditError> {
        let Some(id) = road.who.body() else { return Ok(None) };
        if !world.body(id)?.is_dynamic() {
            return Ok(None);
        }
        if let Some(known) = self.bodies.iter().position(|moving| moving.body == id) {
            return Ok(Some(known));
        }
        self.bodies.push(Moving::new(world, id)?);
        Ok(Some(self.bodies.len() - 1))
    }

    pub fn solve(&mut self, wheels: &[Wheel], dt: f64) {
        for _ in 0..SWEEPS {
            for i in 0..self.patches.len() {
                self.carry(i, &wheels[self.patches[i].wheel].settings, dt);
            }
            for i in 0..self.patches.len() {
                self.hold(i, &wheels[self.patches[i].wheel], dt);
            }
            for (i, wheel) in wheels.iter().enumerate() {
                self.brake(i, dt * wheel.brake);
            }
        }
    }

    /// Velocity of the chassis at a point beside that of the road, m/s.
    fn apart(&self, patch: &Patch, point: Vec3) -> Vec3 {
        let road = match patch.road_body {
            Some(body) => self.bodies[body].at(patch.road.point),
            None => patch.road.velocity,
        };
        self.bodies[0].at(point) - road
    }

    /// Inverse mass of chassis and road together along a line, 1/kg.
    fn mobility(&self, patch: &Patch, point: Vec3, axis: Vec3) -> f64 {
        let road = patch.road_body.map_or(0.0, |b| self.bodies[b].mobility(patch.road.point, axis));
        self.bodies[0].mobility(point, axis) + road
    }

    /// An impulse on the chassis at a point, and the other way on the road where it touches.
    fn exchange(&mut self, patch: usize, impulse: Vec3, point: Vec3) {
        let Patch { road_body, ref road, .. } = self.patches[patch];
        self.bodies[0].push(impulse, point);
        if let Some(body) = road_body {
            self.bodies[body].push(-impulse, road.point);
        }
    }

    /// The spring and its damper by backward Euler, λ = h(k(x − h vₙ) − c vₙ), and the stop.
    fn carry(&mut self, i: usize, settings: &WheelSettings, dt: f64) {
        let patch = &self.patches[i];
        let (normal, point) = (patch.normal, patch.road.point);
        let inverse = self.mobility(patch, point, normal);
        let rate = normal.dot(self.apart(patch, point));
        let firm = dt * settings.stiffness + settings.damping;
        let soft = 1.0 / (dt * firm);
        let missing = settings.stiffness * patch.pushed / firm - rate - soft * patch.spring;
        let spring = (patch.spring + missing / (inverse + soft)).max(0.0);
        let more = spring - patch.spring;
        self.patches[i].spring = spring;
        self.exchange(i, more * normal, point);

        let patch = &self.patches[i];
        let rate = normal.dot(self.apart(patch, point));
        let least = -patch.room.max(TAKEN_BACK * patch.room) / dt;
        let stop = (patch.stop + (least - rate) / inverse).max(0.0);
        let more = stop - patch.stop;
        self.patches[i].stop = stop;
        self.exchange(i, more * normal, point);
    }

    /// How fast a wheel turns in the chassis, rad/s, and the inverse inertia of both, 1/(kg·m²).
    fn braked(&self, i: usize) -> (f64, f64) {
        let (spin, chassis) = (&self.spins[i], &self.bodies[0]);
        let inverse = 1.0 / spin.inertia + spin.axle.dot(chassis.mass.inv_inertia * spin.axle);
        (spin.rate - spin.axle.dot(chassis.angular), inverse)
    }

    /// The brake holds a wheel to the chassis, with `most` N·m·s.
    fn brake(&mut self, i: usize, most: f64) {
        let (rate, inverse) = self.braked(i);
        let spin = &mut self.spins[i];
        let brake = (spin.brake - rate / inverse).clamp(-most, most);
        let more = brake - spin.brake;
        spin.brake = brake;
        spin.rate += more / spin.inertia;
        self.bodies[0].turn(-more * spin.axle);
    }

    /// The tyre holds along and across within its friction circle, and slides against its slip. A brake that
    /// holds the wheel holds the tyre: one after the other they would hardly get anywhere, since what is
    /// light to both is the wheel and what is to be stopped is the chassis.
    fn hold(&mut self, i: usize, wheel: &Wheel, dt: f64) {
        let patch = &self.patches[i];
        let Patch { wheel: number, forwards, sideways, hub, along, across, .. } = *patch;
        let (radius, point) = (wheel.settings.radius, patch.road.point);
        let (spin, chassis) = (&self.spins[number], &self.bodies[0]);
        let mut slip = [
            forwards.dot(self.apart(patch, hub)) - radius * spin.rate,
            sideways.dot(self.apart(patch, point)),
        ];
        let length = length(slip);
        let mut inverse = [
            self.mobility(patch, hub, forwards) + radius * radius / spin.inertia,
            self.mobility(patch, point, sideways),
        ];
        let turned = chassis.mass.inv_inertia * (hub - chassis.center).cross(forwards);
        let both = -radius / spin.inertia - spin.axle.dot(turned);
        let (rate, braked) = self.braked(number);
        let brake = |along: f64| -(rate + both * along) / braked;
        // what the brake adds if the tyre takes all slip away
        let most_brake = dt * wheel.brake;
        let whole = inverse[0] - both * both / braked;
        let needed = brake(-(slip[0] - both / braked * rate) / whole);
        let clamped = (spin.brake + needed).clamp(-most_brake, most_brake) - spin.brake;
        if clamped == needed {
            (inverse[0], slip[0]) = (whole, slip[0] - both / braked * rate);
        } else {
            slip[0] += both * clamped;
        }
        let most = wheel.settings.grip * (patch.spring + patch.stop);
        let alone = [slip[0] - inverse[0] * along, slip[1] - inverse[1] * across];
        let [new_along, new_across] = least_slip(inverse, alone, most);
        let (more_along, more_across) = (new_along - along, new_across - across);
        let patch = &mut self.patches[i];
        (patch.along, patch.across, patch.slip) = (new_along, new_across, length);
        self.exchange(i, more_along * forwards, hub);
        self.exchange(i, more_across * sideways, point);
        self.spins[number].rate -= more_along * radius / self.spins[number].inertia;
        self.brake(number, most_brake);
    }

    /// The impulses as forces over the step.
    pub fn push(&self, world: &mut World, chassis: BodyId, dt: f64) -> Result<(), EditError> {
        for spin in &self.spins {
            world.twist(chassis, -(spin.drive + spin.brake) / dt * spin.axle)?;
        }
        for patch in &self.patches {
            let point = patch.road.point;
            let standing = (patch.spring + patch.stop) * patch.normal;
            let at_patch = (standing + patch.across * patch.sideways) / dt;
            let at_hub = patch.along / dt * patch.forwards;
            world.push(chassis, at_patch, point)?;
            world.push(chassis, at_hub, patch.hub)?;
            patch.road.push(world, -(at_patch + at_hub))?;
        }
        Ok(())
    }

    /// How the wheels are doing.
    pub fn tell(&self, wheels: &mut [Wheel], dt: f64) {
        for (wheel, spin) in wheels.iter_mut().zip(&self.spins) {
            wheel.spin = spin.rate;
            wheel.angle = (wheel.angle + dt * spin.rate) % std::f64::consts::TAU;
            (wheel.grounded, wheel.load, wheel.slip) = (false, 0.0, 0.0);
            (wheel.tyre, wheel.length) = (Vec3::ZERO, wheel.settings.rest);
        }
        for patch in &self.patches {
            let wheel = &mut wheels[patch.wheel];
            wheel.grounded = true;
            wheel.length = wheel.settings.rest - wheel.settings.travel + patch.room;
            wheel.load = (patch.spring + patch.stop) / dt;
            wheel.tyre = (patch.along * patch.forwards + patch.across * patch.sideways) / dt;
            wheel.slip = patch.slip;
        }
    }
}

/// Where a wheel touches the road, if its ray reaches one.
fn touch(
    world: &World,
    chassis: BodyId,
    settings: &WheelSettings,
    (mount, down): (Vec3, Vec3),
    axle: Vec3,
) -> Result<Option<Patch>, EditError> {
    let reach = settings.rest + settings.radius;
    let ray = Ray::new(mount, down).map_err(|e| error(e.field, e.problem))?.up_to(reach);
    let filter = Filter::new().groups(settings.groups).except(chassis);
    let Some(hit) = world.cast_ray(&ray, &filter) else { return Ok(None) };
    let normal = if hit.normal.dot(down) > 0.0 { -hit.normal } else { hit.normal };
    let slope = -normal.dot(down);
    let sideways = axle.reject_from_normalized(normal).normalize_or_zero();
    if slope < UPRIGHT || sideways == Vec3::ZERO {
        return Ok(None);
    }
    let pushed = reach - hit.distance;
    let road = Support::new(world, (hit.who, hit.piece), hit.point, settings.radius)?;
    Ok(Some(Patch {
        wheel: 0,
        road,
        road_body: None,
        normal,
        forwards: sideways.cross(normal),
        sideways,
        hub: hit.point - settings.radius * down,
        pushed: slope * pushed,
        room: settings.travel - pushed,
        spring: 0.0,
        stop: 0.0,
        along: 0.0,
        across: 0.0,
        slip: 0.0,
    }))
}

/// The impulse of a tyre, at most `most`, that takes a `slip` away, or slides against what is left of it:
/// λ = −(A + sI)⁻¹ slip with A diagonal and the least s ≥ 0 that keeps to the circle.
fn least_slip(inverse: [f64; 2], slip: [f64; 2], most: f64) -> [f64; 2] {
    let at = |s: f64| [-slip[0] / (inverse[0] + s), -slip[1] / (inverse[1] + s)];
    let mut impulse = at(0.0);
    if length(impulse) <= most {
        return impulse;
    }
    if most <= 0.0 {
        return [0.0; 2];
    }
    // Newton's method for 1/|λ| = 1/most, which is all but straight in s
    let mut s = 0.0;
    for _ in 0..20 {
        let now = length(impulse);
        let bend: f64 = (0..2).map(|i| impulse[i] * impulse[i] / (inverse[i] + s)).sum();
        s = (s + now * now / bend * (now - most) / most).max(0.0);
        impulse = at(s);
        if (length(impulse) - most).abs() <= 1e-12 * most {
            break;
        }
    }
    let now = length(impulse);
    impulse.map(|l| l * (most / now).min(1.0))
}

fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}
