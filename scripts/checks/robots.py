"""Driven robots of the package example-robot-data: random gains and targets, on the ground and in the air.

Judged by laws, not by stored numbers:
- every run ends, all numbers finite;
- a coordinate is never more than 1e-3 beyond a limit (targets beyond limits push with the effort at most);
- away from limits the torque of a driven joint about its axis is at most effort + friction + damping, within 2 % of
  the whole torque and what the axis turns in a substep, of which the reading is the mean;
- in free fall, where nothing loads the joints, coordinates that have come to rest are at their targets within
  5 % of the way, plus what friction holds back.

Usage: robots.py [THIRDLAW] [--count N] [--seed S] [--only NAME]
"""

import argparse
import csv
import math
import os
import random
import subprocess
import sys
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tools  # noqa: E402

PACKAGE = "example-robot-data==6.0.0"
LIMIT = 1e-3
REACHED = 0.05
OVER = 0.02
SUBSTEP = 1 / 480
SECONDS = 3.0


def robots_folder():
    """The package's folder; None where it cannot be had."""

    def make(folder):
        tools.run(sys.executable, "-m", "venv", folder)
        tools.run(folder / "bin/pip", "install", "--disable-pip-version-check", "--no-deps", PACKAGE)

    folder = tools.set_up("example-robot-data", tools.TOOLS / "robots", PACKAGE, make)
    found = folder and sorted(folder.glob("lib/python3*/site-packages/cmeel.prefix/share/example-robot-data"))
    return found[0] if found else None


def number(element, key, default):
    return float(element.get(key, default)) if element is not None else default


def joints_of(path):
    """Joints that turn or slide by themselves: name -> what the file says."""
    joints = {}
    for joint in xml.parse(path).getroot().findall("joint"):
        kind = joint.get("type")
        if kind not in ("revolute", "prismatic", "continuous") or joint.find("mimic") is not None:
            continue
        limit, axis = joint.find("limit"), joint.find("axis")
        bounded = kind != "continuous" and limit is not None
        lower, upper = number(limit, "lower", 0.0), number(limit, "upper", 0.0)
        axis = [float(x) for x in (axis.get("xyz") if axis is not None else "1 0 0").split()]
        length = math.sqrt(sum(x * x for x in axis)) or 1.0
        joints[joint.get("name")] = {
            "slides": kind == "prismatic",
            "limits": (lower, upper) if bounded else None,
            "effort": number(limit, "effort", math.inf) if limit is not None else math.inf,
            "friction": number(joint.find("dynamics"), "friction", 0.0),
            "damping": number(joint.find("dynamics"), "damping", 0.0),
            "axis": [x / length for x in axis],
            "child": joint.find("child").get("link"),
        }
    return joints


def scene(path, share, joints, case):
    """The text of a scene, with what it asks for written into `joints`."""
    dice = random.Random(f"{path.name} {case['seed']} {case['index']}")
    grounded = case["index"] % 2 == 0
    lines = [
        "version = 1",
        f'title = "{path.stem}"',
        f"[settings]\nduration = {SECONDS}\nsleeping = false",
        f'[urdf.r]\nfile = "{path}"',
        f'base = "{dice.choice(["fixed", "free"]) if grounded else "free"}"',
        f"position = [0, {1.2 if grounded else 100}, 0]",
        f'packages = {{ "example-robot-data" = "{share}" }}',
    ]
    if grounded:
        lines += ['[bodies.floor]\nkind = "fixed"\nshape = { half_space = {} }']
    stiffness = 10 ** dice.uniform(0, 4)
    late = 10 ** dice.uniform(-2, -0.7)
    for name, joint in joints.items():
        lower, upper = joint["limits"] or (-3.0, 3.0)
        lower, upper = max(lower, -10.0), min(upper, 10.0)
        start = dice.uniform(lower, upper)
        out = 0.3 * (upper - lower)
        target = dice.uniform(lower - out, upper + out)
        own = stiffness * 10 ** dice.uniform(-0.5, 0.5)
        joint.update(start=start, target=target, stiffness=own, driven=dice.random() < 0.9)
        lines.append(f'[urdf.r.joints."{name}"]\nposition = {start!r}')
        if joint["driven"]:
            lines.append(f"drive = {{ stiffness = {own!r}, damping = {own * late!r}, target = {target!r} }}")
    case["falls"] = not grounded
    return "\n".join(lines) + "\n"


def turned(q, v):
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]


def judge(folder, joints, case):
    """What a run broke, and its figures."""
    turns, spins = {}, {}
    with open(folder / "poses.csv", newline="") as file:
        for row in csv.DictReader(file):
            turns[row["frame"], row["body"]] = [float(row[k]) for k in ("qw", "qx", "qy", "qz")]
            spins[row["frame"], row["body"]] = math.hypot(*(float(row[k]) for k in ("wx", "wy", "wz")))
    missed, figures, last = [], {"limit": 0.0, "effort": 0.0, "reached": 0.0, "asked": 0}, {}
    with open(folder / "joints.csv", newline="") as file:
        for row in csv.DictReader(file):
            joint = joints.get(row["joint"].removeprefix("r."))
            if joint is None:
                continue
            axis = "x" if joint["slides"] else "turn_x"
            q, rate = float(row[axis]), float(row[f"{axis}_rate"])
            if not math.isfinite(q) or not math.isfinite(rate):
                return [f"{row['joint']} is not finite in frame {row['frame']}"], figures
            lower, upper = joint["limits"] or (-math.inf, math.inf)
            beyond = max(lower - q, q - upper)
            figures["limit"] = max(figures["limit"], beyond)
            if beyond > LIMIT:
                missed.append(f"{row['joint']} is {beyond:.2g} beyond its limit in frame {row['frame']}")
            turn = turns.get((row["frame"], f"r.{joint['child']}"))
            if turn and joint["driven"] and beyond < -1e-2 and int(row["frame"]) > 0:
                names = ("fx", "fy", "fz") if joint["slides"] else ("tx", "ty", "tz")
                whole = [float(row[n]) for n in names]
                acts = abs(sum(a * x for a, x in zip(turned(turn, joint["axis"]), whole)))
                # the reading is of the last substep, rates are those at the ends of frames
                fastest = max(abs(rate), abs(joint.get("rate", 0.0)))
                most = joint["effort"] + joint["friction"] + 2.0 * joint["damping"] * fastest
                spin = spins[row["frame"], f"r.{joint['child']}"] * SUBSTEP
                blurred = math.hypot(*whole) * (1.0 + spin / OVER)
                over = (acts - most) / (blurred + 1e-2 + 0.05 * most)
                if math.isfinite(over):
                    figures["effort"] = max(figures["effort"], over)
                    if over > OVER:
                        missed.append(f"{row['joint']} acts with {acts:.4g} of {most:.4g} in frame {row['frame']}")
            last[row["joint"]], joint["rate"] = (joint, q, rate), rate
    for name, (joint, q, rate) in last.items():
        lower, upper = joint["limits"] or (-math.inf, math.inf)
        inside = lower + 1e-3 < joint["target"] < upper - 1e-3
        way = abs(joint["target"] - joint["start"])
        if not (case["falls"] and joint["driven"] and inside) or abs(rate) > 1e-3 * max(way, 0.1):
            continue
        held = joint["friction"] / joint["stiffness"]
        off = (abs(q - joint["target"]) - held) / max(way, 0.1)
        figures["asked"] += 1
        figures["reached"] = max(figures["reached"], off)
        if off > REACHED and joint["effort"] > 2 * joint["friction"]:
            missed.append(f"{name} rests at {q:.4g}, target {joint['target']:.4g}")
    return missed, figures


def run(program, work, path, share, case):
    joints = joints_of(path)
    folder = work / f"{path.parent.parent.name}-{path.stem}-{case['index']}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "scene.toml"
    file.write_text(scene(path, share, joints, case))
    command = [program, "run", file, "--out", folder / "out", "--force", "--quiet", "--joints", "--poses"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return case, [f"not done in 600 s ({file})"], {}
    if done.returncode == 2:
        return case, None, done.stderr.strip().splitlines()[0][-200:]
    if done.returncode != 0:
        text = [line for line in done.stderr.splitlines() if line.startswith("error")] or [done.stderr[-300:]]
        return case, [f"{text[-1]} ({file})"], {}
    missed, figures = judge(folder / "out", joints, case)
    if not missed:
        for part in ("poses.csv", "joints.csv"):
            (folder / "out" / part).unlink()
        subprocess.run(["rm", "-r", folder / "out/frames"], check=False)
    return case, missed, figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default=tools.TARGET / "release/thirdlaw")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    share = robots_folder()
    if share is None:
        return 0
    work = tools.TARGET / "robots"
    files = [path for path in sorted(share.glob("robots/**/*.urdf")) if arguments.only in str(path)]
    files = [path for path in files if joints_of(path)]
    refused, failed, runs = [], 0, 0
    totals = {"limit": 0.0, "effort": 0.0, "reached": 0.0, "asked": 0}
    with ThreadPoolExecutor(int(os.environ.get("ROBOT_JOBS", "2"))) as pool:
        for path in files:
            cases = [{"seed": arguments.seed, "index": i} for i in range(arguments.count)]
            one = lambda case, path=path: run(Path(arguments.program).resolve(), work, path, share, case)  # noqa: E731
            first = one(cases[0])
            if first[1] is None:
                refused.append(f"{path.stem}: {first[2]}")
                continue
            results = [first, *pool.map(one, cases[1:])]
            bad = 0
            for case, missed, figures in results:
                runs += 1
                if missed is None:
                    refused.append(f"{path.stem} {case['index']}: {figures}")
                    continue
                if missed:
                    bad += 1
                    print(f"  {path.stem} {case['index']}: {missed[0]}, {len(missed)} in all", flush=True)
                for key in figures:
                    both = (totals[key], figures[key])
                    totals[key] = sum(both) if key == "asked" else max(both)
            failed += bad
            print(f"{path.parent.parent.name}/{path.stem}: {len(results) - bad} of {len(results)}", flush=True)
    for line in refused:
        print(f"not loaded: {line}")
    print(
        f"{runs - failed} of {runs} runs hold; beyond limits {totals['limit']:.2e} at most, "
        f"over effort {totals['effort']:.2e}, {totals['asked']} targets in free fall within "
        f"{100 * totals['reached']:.2f} % of the way; {len(refused)} files not loaded"
    )
    return 1 if failed or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
