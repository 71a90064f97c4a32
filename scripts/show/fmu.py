"""Checks an FMU that `thirdlaw-fmu` wrote of scripts/show/fmu.toml, and runs it by fmpy."""

import sys

import numpy
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

path = sys.argv[1]
missed = 0


def judge(what, found, known, within):
    global missed
    bad = not abs(found - known) <= within
    missed += bad
    print(f"{what:<58} {found:>12.6g}  known {known:.6g} ± {within:.1g}{'  ✗' if bad else ''}")


problems = validate_fmu(path)
judge("problems that fmpy finds", len(problems), 0, 0)
print("\n".join(problems))

h, n, g, m = 0.01, 100, 9.81, 2.0
result = simulate_fmu(
    path,
    stop_time=n * h,
    output_interval=h,
    output=["ball.position", "ball.velocity", "bob.position"],
)
last = result[-1]
# eight substeps of semi-implicit Euler fall a little farther than ½gt²
judge("fall of the ball in 1 s, m", 5 - last["ball.position"][1], 0.5 * g * (1 + h / 8), 1e-9)
judge("its speed then, m/s", -last["ball.velocity"][1], g, 1e-9)

description = read_model_description(path)
variables = {v.name: v.valueReference for v in description.modelVariables}
fmu = FMU3Slave(
    guid=description.guid,
    unzipDirectory=extract(path),
    modelIdentifier=description.coSimulation.modelIdentifier,
    instanceName="ball",
)
fmu.instantiate()
fmu.enterInitializationMode()
fmu.exitInitializationMode()


def get(name, count=3):
    return numpy.array(fmu.getFloat64([variables[name]], nValues=count))


def run(force):
    for k in range(n):
        fmu.setFloat64([variables["ball.force"]], force)
        fmu.doStep(currentCommunicationPoint=k * h, communicationStepSize=h)
    return get("ball.velocity")


start = fmu.getFMUState()
held = run([0.0, m * g, 0.0])
judge("speed of the ball carried by its weight, m/s", float(numpy.linalg.norm(held)), 0, 1e-9)
end = numpy.concatenate([get("ball.position"), get("bob.position")])
fmu.setFMUState(start)
judge("place of the ball after going back, m", float(get("ball.position")[1]), 5, 0)
run([0.0, m * g, 0.0])
again = numpy.concatenate([get("ball.position"), get("bob.position")])
judge("difference of the same second once more, m", float(abs(again - end).max()), 0, 0)
fmu.setFMUState(start)
state = fmu.serializeFMUState(start)
run([1.0, 0.0, 0.0])
fmu.setFMUState(fmu.deserializeFMUState(state))
judge("place of the ball from serialized bytes, m", float(get("ball.position")[1]), 5, 0)
pushed = run([m, 0.0, 0.0])
judge("speed by a force of 2 N on 2 kg over 1 s, m/s", float(pushed[0]), 1, 1e-9)
judge("its mass, kg", float(get("ball.mass", 1)[0]), m, 0)
fmu.freeFMUState(start)
fmu.terminate()
fmu.freeInstance()
print(f"{missed} missed")
sys.exit(missed > 0)
