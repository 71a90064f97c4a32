"""Facts about exports, read by other people's libraries. Called by scripts/check-exports."""

import csv
import json
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pyvista
import trimesh
from pxr import Usd, UsdGeom, UsdShade

PROGRAM, WORK, NODE = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
SCENE = Path(__file__).resolve().parent / "shapes.toml"
EXAMPLE = WORK / "example"
RUN = WORK / "run"
# the built-in scene with bodies, joints, cloth and particles
ALL = WORK / "everything"
STREAMS = ["hose", "shower", "fan"]
HINGE = np.array([-0.55, 1.2, -0.45])
FRAMES, FPS = 40, 50
CRATES = [f"crate.{k}" for k in range(6)]
# a crate of 500 kg/m³ and half a metre, under standard gravity
WEIGHT = 500 * 0.5**3 * 9.80665


def thirdlaw(*arguments, code=0):
    done = subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, f"{arguments} ended with {done.returncode}: {done.stderr}"
    return done


def poses(run=RUN):
    """(frame, body) → position, quaternion (w, x, y, z), velocity, angular velocity."""
    table = {}
    with open(run / "poses.csv", newline="") as file:
        for row in csv.DictReader(file):
            numbers = lambda keys: np.array([float(row[key]) for key in keys.split()])
            table[int(row["frame"]), row["body"]] = (
                numbers("x y z"),
                numbers("qw qx qy qz"),
                numbers("vx vy vz"),
                numbers("wx wy wz"),
            )
    return table


def vertices():
    """frame → positions of the curtain's vertices."""
    table = {}
    with open(ALL / "points.csv", newline="") as file:
        for row in csv.DictReader(file):
            place = [float(row[key]) for key in "xyz"]
            table.setdefault(int(row["frame"]), []).append(place)
    return {frame: np.array(places) for frame, places in table.items()}


def particles():
    """Number of particles in every frame."""
    with open(ALL / "stats.csv", newline="") as file:
        return [int(row["particles"]) for row in csv.DictReader(file)]


def identifier(name):
    return name.replace(".", "_").replace("-", "_")


def near(a, b, within):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, f"{a.shape} is not {b.shape}"
    assert np.abs(a - b).max() <= within, f"{a} is not {b}"


def linear(hexadecimal):
    parts = np.array([int(hexadecimal[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


# ----- USD -----


def check_usd():
    thirdlaw("export", RUN, "--to", "usd", "--quiet")
    stage = Usd.Stage.Open(str(RUN / "export/scene.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == FPS and stage.GetFramesPerSecond() == FPS
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, FRAMES)
    assert stage.GetDefaultPrim().GetPath() == "/World"
    table = poses()
    for (frame, body), (position, turn, velocity, spin) in table.items():
        prim = stage.GetPrimAtPath(f"/World/{identifier(body)}")
        matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(frame)
        near(matrix.ExtractTranslation(), position, 0)
        # USD multiplies vectors from the left
        near(np.array(matrix)[:3, :3].T, trimesh.transformations.quaternion_matrix(turn)[:3, :3], 1e-6)
        moving = prim.GetAttribute("thirdlaw:velocity")
        if moving:
            near(moving.Get(frame), velocity, 1e-5 * (1 + np.abs(velocity).max()))
            near(prim.GetAttribute("thirdlaw:angularVelocity").Get(frame), spin, 1e-5 * (1 + np.abs(spin).max()))
    crates = [stage.GetPrimAtPath(f"/World/{identifier(name)}") for name in CRATES]
    assert all(crate.IsInstance() for crate in crates)
    assert len({crate.GetPrototype().GetPath() for crate in crates}) == 1, "equal bodies share a prototype"
    assert crates[0].GetMetadata("displayName") == "crate.0"
    surface = crates[3].GetChildren() or crates[3].GetFilteredChildren(Usd.TraverseInstanceProxies())
    color = UsdGeom.PrimvarsAPI(surface[0]).FindPrimvarWithInheritance("displayColor").Get()[0]
    near(color, linear("#cc4422"), 1e-3)
    material, _ = UsdShade.MaterialBindingAPI(surface[0]).ComputeBoundMaterial()
    shader, _, _ = material.ComputeSurfaceSource()
    assert shader.GetShaderId() == "UsdPreviewSurface"
    near(shader.GetInput("diffuseColor").Get(), color, 0)
    mesh = UsdGeom.Mesh(surface[0])
    assert len(mesh.GetPointsAttr().Get()) == 8 and len(mesh.GetFaceVertexCountsAttr().Get()) == 12
    assert UsdGeom.Mesh.ValidateTopology(
        mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), 8
    )
    bounds = UsdGeom.BBoxCache(FRAMES, ["default"]).ComputeWorldBound(crates[0]).ComputeAlignedRange()
    near(bounds.GetMidpoint(), table[FRAMES, "crate.0"][0], 1e-5)


def check_usd_range():
    out = WORK / "some.usda"
    thirdlaw("export", RUN, "--to", "usd", "--frames", "10..30:5", "--out", out)
    stage = Usd.Stage.Open(str(out))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (10, 30)
    ball = UsdGeom.Xformable(stage.GetPrimAtPath("/World/ball"))
    assert set(ball.GetTimeSamples()) <= {10, 15, 20, 25, 30}
    table = poses()
    near(ball.ComputeLocalToWorldTransform(25).ExtractTranslation(), table[25, "ball"][0], 0)


def check_usd_validators():
    try:
        from pxr import UsdValidation
    except ImportError:
        from pxr import UsdUtils

        checker = UsdUtils.ComplianceChecker()
        checker.CheckCompliance(str(RUN / "export/scene.usda"))
        assert not checker.GetErrors() + checker.GetFailedChecks(), checker.GetFailedChecks()
        return
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    # a package must hold what it names; a plain file need not be a package
    for path in (RUN / "export/scene.usda", ALL / "export/scene.usda", EXAMPLE / "example.usda"):
        stage = Usd.Stage.Open(str(path))
        errors = UsdValidation.ValidationContext(validators).Validate(stage)
        told = [(error.GetName(), error.GetMessage()) for error in errors]
        assert not told, f"{path.name}: {told[:5]}"


def check_usd_soft():
    stage = Usd.Stage.Open(str(EXAMPLE / "example.usda"))
    assert stage.GetTimeCodesPerSecond() == 10
    cloth = UsdGeom.Mesh(stage.GetPrimAtPath("/World/cloth"))
    for frame in (0, 2, 4):
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 0, -1], [0, 0, -1]], float)
        near(cloth.GetPointsAttr().Get(frame), corners - [0, frame, 0], 0)
        near(cloth.GetVelocitiesAttr().Get(frame), np.tile([0, -10, 0], (4, 1)), 0)
        strain = UsdGeom.PrimvarsAPI(cloth).GetPrimvar("strain")
        assert strain.GetInterpolation() == "uniform"
        near(strain.Get(frame), [0.5, frame], 0)
    # velocities carry the points on between samples: 10 m/s for a tenth of a second is 1 m
    near(cloth.ComputePointsAtTime(Usd.TimeCode(1), Usd.TimeCode(0))[0], [0, -1, 0], 1e-6)
    st = UsdGeom.PrimvarsAPI(cloth).GetPrimvar("st")
    assert st.GetInterpolation() == "faceVarying" and len(st.Get()) == 6
    assert cloth.GetDoubleSidedAttr().Get() is True
    spray = UsdGeom.Points(stage.GetPrimAtPath("/World/spray"))
    assert [len(spray.GetPointsAttr().Get(frame)) for frame in (0, 2, 4)] == [1, 3, 5]
    near(spray.GetWidthsAttr().Get(), [0.2], 1e-7)
    assert list(spray.GetIdsAttr().Get(4)) == [4, 3, 2, 1, 0]


# ----- VTK -----


def check_vtk():
    thirdlaw("export", RUN, "--to", "vtk", "--quiet")
    folder = RUN / "export/vtk"
    reader = pyvista.PVDReader(str(folder / "scene.pvd"))
    near(reader.time_values, np.arange(FRAMES + 1) / FPS, 1e-9)
    with open(folder / "objects.csv", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    table = poses()
    for frame in (0, 7, FRAMES):
        reader.set_active_time_value(reader.time_values[frame])
        grid, contacts = reader.read()
        for number, name in enumerate(names):
            if not name.startswith(("crate", "ball", "paddle")):
                continue  # the middle of the vertices is the origin of these
            part = grid.extract_cells(np.flatnonzero(grid.cell_data["object"] == number))
            position, _, velocity, spin = table[frame, name]
            near(part.points.mean(axis=0), position, 1e-5)
            rigid = velocity + np.cross(spin, part.points - position)
            near(part.point_data["velocity"], rigid, 1e-4 * (1 + np.abs(rigid).max()))
        assert grid.celltypes.tolist() == [pyvista.CellType.TRIANGLE] * grid.n_cells
    crate = grid.extract_cells(np.flatnonzero(grid.cell_data["object"] == names.index("crate.0")))
    near(volume(crate), 0.125, 1e-5)
    # an upper crate is carried, a lower one carries and is carried: both forces are a weight
    for name in ("crate.0", "crate.3"):
        part = grid.extract_cells(np.flatnonzero(grid.cell_data["object"] == names.index(name)))
        near(part.cell_data["contact_force"][0] / WEIGHT, [0, 1, 0], 0.02)
    on_floor = contacts.point_data["objects"].min(axis=1) == names.index("floor")
    assert on_floor.sum() >= 12 and contacts.n_points > on_floor.sum()
    near(contacts.points[on_floor][:, 1], np.zeros(on_floor.sum()), 2e-3)


def volume(grid):
    triangles = grid.cells.reshape(-1, 4)[:, 1:]
    return trimesh.Trimesh(grid.points, triangles, process=False).volume


def check_vtk_soft():
    reader = pyvista.PVDReader(str(EXAMPLE / "vtk/scene.pvd"))
    near(reader.time_values, [0, 0.2, 0.4], 1e-9)
    reader.set_active_time_value(0.4)
    grid, contacts = reader.read()
    cloth = grid.extract_cells(np.flatnonzero(grid.cell_data["object"] == 3))
    near(cloth.cell_data["strain"], [0.5, 4], 0)
    near(cloth.point_data["velocity"], np.tile([0, -10, 0], (4, 1)), 0)
    assert cloth.point_data["force"].shape == (4, 3)
    spray = grid.extract_cells(np.flatnonzero(grid.cell_data["object"] == 4))
    assert spray.n_points == 5 and set(spray.celltypes) == {pyvista.CellType.VERTEX}
    near(contacts.point_data["force"], [[0, 3, 0]], 0)


# ----- OBJ -----


def check_obj():
    thirdlaw("export", RUN, "--to", "obj", "--quiet")
    folder = RUN / "export/obj"
    assert len(list(folder.glob("frame-*.obj"))) == FRAMES + 1
    table = poses()
    for frame in (0, 25, FRAMES):
        scene = trimesh.load_scene(folder / f"frame-{frame:06}.obj")
        parts = scene.geometry
        for name in (*CRATES, "ball", "pill", "drum"):
            mesh = parts[identifier(name)]
            near(mesh.vertices.mean(axis=0) if name != "ball" else mesh.centroid, table[frame, name][0], 1e-4)
            assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0, name
        near(parts["crate_0"].volume, 0.125, 1e-5)
        near(parts["hull_1"].volume, 1 / 6, 1e-5)
    near(parts["crate_0"].visual.material.main_color[:3], [0xCC, 0x44, 0x22], 1)


def check_obj_soft():
    text = (EXAMPLE / "obj/frame-000002.obj").read_text()
    scene = trimesh.load_scene(EXAMPLE / "obj/frame-000002.obj")
    cloth = scene.geometry["cloth"]
    near(cloth.bounds, [[0, -2, -1], [1, -2, 0]], 0)
    assert cloth.visual.uv is not None and text.count("\np ") == 3


# ----- glTF -----


def check_gltf():
    thirdlaw("export", RUN, "--to", "gltf", "--quiet")
    table = poses()
    for frame in (0, 25):
        out = WORK / f"frame-{frame}.glb"
        thirdlaw("export", RUN, "--to", "gltf", "--frames", frame, "--out", out)
        scene = trimesh.load(out)
        for name in (*CRATES, "ball", "pill", "drum", "hull-1", "paddle"):
            matrix, geometry = scene.graph[name]
            position, turn, _, _ = table[frame, name]
            near(matrix[:3, 3], position, 1e-5)
            near(matrix[:3, :3], trimesh.transformations.quaternion_matrix(turn)[:3, :3], 1e-5)
            mesh = scene.geometry[geometry]
            # what holds the vertices together is their place, not their number: normals split them
            mesh.merge_vertices(merge_norm=True, merge_tex=True)
            assert mesh.is_watertight and mesh.volume > 0, name
        near(scene.geometry[scene.graph["crate.0"][1]].volume, 0.125, 1e-5)
        color = scene.geometry[scene.graph["crate.0"][1]].visual.material.baseColorFactor
        near(np.array(color[:3]) / 255, linear("#cc4422"), 4e-3)


def glb(path):
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def check_gltf_animation():
    tree, data = glb(RUN / "export/scene.glb")
    table = poses()

    def values(index):
        accessor = tree["accessors"][index]
        view = tree["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        start = view["byteOffset"] + accessor["byteOffset"]
        numbers = np.frombuffer(data, "<f4", width * accessor["count"], start)
        return numbers.reshape(-1, width)

    animation = tree["animations"][0]
    seen = set()
    for channel in animation["channels"]:
        name = tree["nodes"][channel["target"]["node"]]["name"]
        sampler = animation["samplers"][channel["sampler"]]
        near(values(sampler["input"])[:, 0], np.arange(FRAMES + 1) / FPS, 1e-6)
        if channel["target"]["path"] == "translation":
            seen.add(name)
            near(values(sampler["output"]), [table[frame, name][0] for frame in range(FRAMES + 1)], 1e-5)
    assert {"ball", "pill", "drum", "hull-1", "paddle"} <= seen and "floor" not in seen
    meshes = [tree["nodes"][k]["mesh"] for k, node in enumerate(tree["nodes"]) if node["name"].startswith("crate")]
    assert len(set(meshes)) == 1, "equal bodies of one colour share a mesh"


VALIDATE = """
const validator = require('gltf-validator');
const bytes = new Uint8Array(require('fs').readFileSync(process.argv[1]));
validator.validateBytes(bytes, { maxIssues: 20 }).then(
  report => console.log(JSON.stringify(report)), error => { console.error(String(error)); process.exit(1); });
"""


def check_gltf_validator():
    for path in (RUN / "export/scene.glb", ALL / "export/scene.glb", EXAMPLE / "example.glb", WORK / "frame-25.glb"):
        done = subprocess.run(
            ["node", "-e", VALIDATE, str(path)], cwd=NODE, capture_output=True, text=True, check=True
        )
        report = json.loads(done.stdout)
        issues = report["issues"]
        assert issues["numErrors"] == 0 and issues["numWarnings"] == 0, f"{path.name}: {issues['messages'][:5]}"
    assert report["info"]["drawCallCount"] == 8, "six equal crates are one mesh"


def check_gltf_soft():
    tree, _ = glb(EXAMPLE / "example.glb")
    scene = trimesh.load(EXAMPLE / "example.glb")
    matrix, geometry = scene.graph["cloth"]
    near(scene.geometry[geometry].bounds, [[0, 0, -1], [1, 0, 0]], 0)
    cloth = next(node for node in tree["nodes"] if node["name"] == "cloth")
    assert len(tree["meshes"][cloth["mesh"]]["weights"]) == 2
    _, geometry = scene.graph["spray"]
    near(scene.geometry[geometry].bounds, [[0, 0, 0], [0, 1, 0]], 0)


# ----- bodies, joints, cloth and particles together -----


def check_usd_everything():
    thirdlaw("export", ALL, "--to", "usd", "--quiet")
    stage = Usd.Stage.Open(str(ALL / "export/scene.usda"))
    table, cloth, counts = poses(ALL), vertices(), particles()
    last = len(counts) - 1
    curtain = UsdGeom.Mesh(stage.GetPrimAtPath("/World/curtain"))
    paddle = UsdGeom.Xformable(stage.GetPrimAtPath("/World/paddle"))
    anchor = np.linalg.inv(np.array(paddle.ComputeLocalToWorldTransform(0))).T @ [*HINGE, 1]
    streams = [UsdGeom.Points(stage.GetPrimAtPath(f"/World/{name}")) for name in STREAMS]
    before = {}
    followed = 0
    for frame in range(last + 1):
        near(curtain.GetPointsAttr().Get(frame), cloth[frame], 1e-5)
        for body in ("crate.0", "crate.2", "paddle"):
            prim = UsdGeom.Xformable(stage.GetPrimAtPath(f"/World/{identifier(body)}"))
            place = prim.ComputeLocalToWorldTransform(frame).ExtractTranslation()
            near(place, table[frame, body][0], 0)
        # the hinge holds its place
        turned = np.array(paddle.ComputeLocalToWorldTransform(frame)).T @ anchor
        near(turned[:3], HINGE, 1e-6)
        points = [np.array(s.GetPointsAttr().Get(frame)).reshape(-1, 3) for s in streams]
        assert sum(map(len, points)) == counts[frame]
        for name, stream, now in zip(STREAMS, streams, points):
            velocities = np.array(stream.GetVelocitiesAttr().Get(frame)).reshape(-1, 3)
            ids = list(stream.GetIdsAttr().Get(frame))
            assert len(set(ids)) == len(ids) == len(now) == len(velocities)
            assert np.isfinite(now).all() and (now[:, 1] > 0.0119).all()
            # a particle that kept its velocity over a frame moved by it, but for gravity
            for k, number in enumerate(ids):
                old = before.get((name, number))
                fall = np.array([0, -9.81 / 60, 0])
                if old is not None and np.abs(velocities[k] - old[1] - fall).max() < 1e-4:
                    near(now[k] - old[0], velocities[k] / 60, 1e-4)
                    followed += 1
            before.update({(name, number): (now[k], velocities[k]) for k, number in enumerate(ids)})
    assert followed > 1000
    near(streams[0].GetWidthsAttr().Get(), [0.03], 1e-6)


def check_vtk_everything():
    thirdlaw("export", ALL, "--to", "vtk", "--frames", "..:10", "--quiet")
    reader = pyvista.PVDReader(str(ALL / "export/vtk/scene.pvd"))
    cloth, counts = vertices(), particles()
    with open(ALL / "export/vtk/objects.csv", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    for time in reader.time_values:
        frame = round(time * 60)
        reader.set_active_time_value(time)
        grid, _ = reader.read()
        cells = grid.cell_data["object"]
        assert (grid.celltypes == pyvista.CellType.VERTEX).sum() == counts[frame]
        curtain = grid.extract_cells(np.flatnonzero(cells == names.index("curtain")))
        near(np.sort(curtain.points, axis=0), np.sort(cloth[frame], axis=0), 1e-5)
        hose = grid.extract_cells(np.flatnonzero(cells == names.index("hose")))
        if hose.n_points:
            assert hose.point_data["velocity"].shape == (hose.n_points, 3)
            assert (hose.point_data["age"] <= 1.2).all() and (hose.point_data["age"] >= 0).all()


def check_obj_everything():
    thirdlaw("export", ALL, "--to", "obj", "--frames", "..:30", "--quiet")
    counts, cloth = particles(), vertices()
    for path in sorted((ALL / "export/obj").glob("frame-*.obj")):
        frame = int(path.stem.removeprefix("frame-"))
        assert sum(line.startswith("p ") for line in path.read_text().splitlines()) == counts[frame]
        parts = trimesh.load_scene(path).geometry
        near(parts["crate_0"].volume, 0.027, 1e-5)
        near(parts["curtain"].bounds, [cloth[frame].min(axis=0), cloth[frame].max(axis=0)], 1e-5)


def check_gltf_everything():
    thirdlaw("export", ALL, "--to", "gltf", "--frames", "..:4", "--quiet")
    counts = particles()
    for frame in (0, 90):
        out = WORK / f"everything-{frame}.glb"
        thirdlaw("export", ALL, "--to", "gltf", "--frames", frame, "--out", out)
        scene = trimesh.load(out)
        found = sum(len(scene.geometry[scene.graph[name][1]].vertices) for name in STREAMS if counts[frame])
        assert found == counts[frame], f"{found} is not {counts[frame]}"
    tree, _ = glb(ALL / "export/scene.glb")
    hose = next(node for node in tree["nodes"] if node["name"] == "hose")
    primitive = tree["meshes"][hose["mesh"]]["primitives"][0]
    assert primitive["mode"] == 0 and len(primitive["targets"]) == len(range(0, len(counts), 4)) - 1
    # 400 a second that live for 1.2 s
    assert 400 < tree["accessors"][primitive["attributes"]["POSITION"]]["count"] <= 490


# ----- meshes in -----


def check_meshes_in():
    """What trimesh writes in every format is the same body here, by volume and by place."""
    folder = WORK / "meshes"
    folder.mkdir(exist_ok=True)
    mesh = trimesh.creation.icosphere(2, 0.5)
    mesh.apply_scale((1, 2, 3))
    mesh.apply_translation((0.1, 0.2, 0.3))
    scene = trimesh.Scene()
    # in glTF the node says where the mesh is
    away = mesh.copy()
    away.apply_translation((-5, 0, 0))
    scene.add_geometry(away, transform=trimesh.transformations.translation_matrix((5, 0, 0)))
    files = {
        "a.obj": mesh.export(file_type="obj"),
        "binary.stl": mesh.export(file_type="stl"),
        "text.stl": mesh.export(file_type="stl_ascii"),
        "binary.ply": mesh.export(file_type="ply", encoding="binary"),
        "text.ply": mesh.export(file_type="ply", encoding="ascii"),
        "a.glb": scene.export(file_type="glb"),
    }
    for name, data in scene.export(file_type="gltf").items():
        files["a.gltf" if name == "model.gltf" else name] = data
    for name, data in files.items():
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    names = [name for name in files if not name.endswith(".bin")]
    assert len(names) == 7
    for name in names:
        text = f'version = 1\n[bodies.a]\nshape = {{ mesh = {{ file = "{name}", up = "z" }} }}\n'
        (folder / "a.toml").write_text(text)
        thirdlaw("run", folder / "a.toml", "--frames", 1, "--out", folder / "run", "--force", "--quiet", "--no-report")
        thirdlaw("export", folder / "run", "--to", "obj", "--frames", 0)
        read = trimesh.load_mesh(folder / "run/export/obj/frame-000000.obj")
        assert read.is_watertight, name
        near(read.volume, mesh.volume, 1e-5)
        x, y, z = mesh.center_mass
        near(read.center_mass, [x, z, -y], 1e-5)


# ----- the command -----


def check_refusals():
    for arguments, code in [
        (("--to", "usd"), 2),  # there already
        (("--to", "vtk"), 2),
        (("--to", "fbx"), 2),
        (("--to", "usd", "--frames", "99..100", "--force"), 2),
        (("--to", "usd", "--out", "/proc/no/such.usda"), 4),
    ]:
        thirdlaw("export", RUN, *arguments, code=code)
    thirdlaw("export", RUN, "--to", "usd", "--force", "--quiet")
    assert not list((RUN / "export").glob("*.tmp"))
    thirdlaw("export", WORK / "nothing", "--to", "usd", code=4)


CHECKS = [
    check_usd, check_usd_range, check_usd_soft,
    check_vtk, check_vtk_soft,
    check_obj, check_obj_soft,
    check_gltf, check_gltf_animation, check_gltf_soft,
    check_usd_everything, check_vtk_everything, check_obj_everything, check_gltf_everything,
    check_usd_validators, check_gltf_validator,
    check_meshes_in, check_refusals,
]  # fmt: skip


def main():
    shutil.rmtree(RUN, ignore_errors=True)
    thirdlaw("run", SCENE, "--poses", "--quiet", "--out", RUN)
    shutil.rmtree(ALL, ignore_errors=True)
    thirdlaw("run", "everything", "--poses", "--points", "--quiet", "--no-report", "--out", ALL)
    failed = skipped = 0
    for check in CHECKS:
        name = check.__name__.removeprefix("check_").replace("_", " ")
        if check is check_gltf_validator and not NODE:
            print(f"{name}: skipped, the validator is missing")
            skipped += 1
            continue
        try:
            check()
            print(f"{name}: ok", flush=True)
        except Exception:
            failed += 1
            print(f"{name}: FAILED\n{traceback.format_exc()}", flush=True)
    print(f"{len(CHECKS) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
