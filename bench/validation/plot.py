"""Reads the CSV files of run.sh, compares them with measurements and theory, prints one line per check, and draws validation.png.

The gate of a dam break: the front never beats Ritter's bound, its slope is 0.9 to 1.25 of the measured one, its RMS error is below 10 %
after the best shift of time (|dT| <= 0.5: the gate of the experiment takes time to open), and the error shrinks with resolution. Of
Martin & Moyce nobody knows when the gate was open: one shift, fitted to the finest run, serves all resolutions, since the gate opened
once and a shift of its own would hide the error of a coarse run; the errors at shifts of their own are printed beside. The table of
Lobovsky et al. starts at T = 0 with the front at rest: no shift at all, and the gate is part of the run (docs/decisions/0088)."""
import os
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
COLORS = ["#b9c7d4", "#6f97b8", "#1f5f8b"]
failed = []


def read(path):
    return np.genfromtxt(path, delimiter=",", names=True, comments="#")


def table(path):
    with open(path) as file:
        rows = [line.split(",") for line in file if line[0].isdigit()]
    return np.array(rows, float)


def check(name, good, text):
    print("%-6s %-34s %s" % ("ok" if good else "FAILED", name, text))
    if not good:
        failed.append(name)


# Of each experiment: its table, the runs, its name, from when on its slope counts, and whether the time of its gate is fitted.
EXPERIMENTS = {
    "martin": ("dam_break.csv", "dam_%s_%d.csv", "Martin", 1.19, True),
    "martin_low": ("dam_break_low.csv", "dam_low_%s_%d.csv", "Martin, low", 1.0, True),
    "lobovsky": ("dam_break_square.csv", "dam_square_%s_%d.csv", "Lobovsky", 0.3, False),
}


def dam(axis, solver, experiment):
    file, stem, title, slope_from, fitted = EXPERIMENTS[experiment]
    measured = table(os.path.join(HERE, file))
    window = measured[:, 0] >= slope_from
    shifts = np.linspace(-0.5, 0.5, 201)

    def rms(run, shift, first=0):
        return np.sqrt(np.mean((np.interp(measured[first:, 0] - shift, run["T"], run["Z"]) / measured[first:, 1] - 1) ** 2))

    name = "%s, %s" % (title, solver)
    runs = {across: read(os.path.join(OUT, stem % (solver, across))) for across in (10, 20, 40)}
    own = {across: float(shifts[int(np.argmin([rms(run, s) for s in shifts]))]) for across, run in runs.items()}
    gate = own[40] if fitted else 0.0
    for k, (across, run) in enumerate(runs.items()):
        axis.plot(run["T"] + gate, run["Z"], color=COLORS[k], label="%d across" % across)
        # x < a + 2 t sqrt(g height), so in units of a and of T, whatever the height: Z < 1 + 2 T.
        check("%s %d: Ritter's bound" % (name, across), bool((run["Z"][1:] < 1 + 2 * run["T"][1:] + 0.5 / across).all()),
              "largest excess %.3f" % float((run["Z"] - 1 - 2 * run["T"]).max()))
    z = np.interp(measured[window, 0] - gate, runs[40]["T"], runs[40]["Z"])
    ratio = np.polyfit(measured[window, 0], z, 1)[0] / np.polyfit(measured[window, 0], measured[window, 1], 1)[0]
    check("%s: slope" % name, 0.9 <= ratio <= 1.25, "%.3f of the measured one" % ratio)
    check("%s: front" % name, rms(runs[40], gate) <= 0.1, "RMS %.1f %% after a shift of %+.3f" % (100 * rms(runs[40], gate), gate))
    errors = [rms(run, gate) for run in runs.values()]
    check("%s: error shrinks" % name, errors[0] > errors[1] > errors[2],
          " > ".join("%.2f %%" % (100 * e) for e in errors) + " at that shift; each at its own: " +
          ", ".join("%.2f %% at %+.3f" % (100 * rms(run, own[across]), own[across]) for across, run in runs.items()) +
          (", without the first point " + ", ".join("%.2f %%" % (100 * rms(run, own[across], 1)) for across, run in runs.items()) if fitted else ""))
    axis.plot(measured[:, 0], measured[:, 1], "o", color="#c8452d", ms=4, label="Martin & Moyce 1952" if fitted else "Lobovsky et al. 2014")
    axis.set(title="Dam break, %s (shift %+.2f)" % ("weakly compressible" if solver == "weak" else solver, gate),
             xlabel="t sqrt(2 g / a)" if experiment == "martin" else "t sqrt(g / a)", ylabel="front / a")
    axis.legend(fontsize=7, frameon=False)


figure, axes = plt.subplots(3, 5, figsize=(20, 10.5))
for row, experiment in enumerate(EXPERIMENTS):
    for column, solver in enumerate(("weak", "incompressible")):
        dam(axes[row, column], solver, experiment)
for axis in axes[2, 2:]:
    axis.axis("off")

axis = axes[0, 2]
for k, solver in enumerate(("weak", "incompressible")):
    run = read(os.path.join(OUT, "hydrostatic_%s.csv" % solver))
    if k == 0:
        axis.plot(run["expected"], run["depth"], color="#8a8f98", label="rho g depth")
    axis.plot(run["pressure"], run["depth"], "o", ms=4, color=("#1f5f8b", "#e0a526")[k], label=solver)
    # At the surface a sum over neighbours lacks half of them; the incompressible solver's k is twice the pressure in the row at the floor.
    middle = (run["depth"] > 0.03) & (run["depth"] < (0.2 if solver == "weak" else 0.18))
    rows = (run["row_depth"] > 0.03) & (run["row_depth"] < (0.2 if solver == "weak" else 0.18))
    error = float(np.abs(run["pressure"][middle] / run["expected"][middle] - 1).max())
    by_row = float(np.abs(run["row_pressure"][rows] / run["row_expected"][rows] - 1).max())
    check("hydrostatic pressure, %s" % solver, error < 0.1, "largest error at fixed depths from 3 to %d cm %.1f %%; of single rows %.1f %%; at the floor %+.0f %%" %
          (20 if solver == "weak" else 18, 100 * error, 100 * by_row, 100 * (run["pressure"][-1] / run["expected"][-1] - 1)))
axis.invert_yaxis()
axis.set(title="Hydrostatic pressure", xlabel="Pa", ylabel="depth, m")
axis.legend(fontsize=7, frameon=False)

run, axis = read(os.path.join(OUT, "drop.csv")), axes[0, 3]
axis.plot(run["t"], run["exact"], color="#8a8f98", label="exact ellipse")
axis.plot(run["t"], run["half_axis"], "o", ms=4, color="#1f5f8b", label="simulated")
axis.set(title="Stretching drop", xlabel="t, s", ylabel="half axis, m")
axis.legend(fontsize=7, frameon=False)
error = float(np.abs(run["half_axis"] / run["exact"] - 1).max())
check("stretching drop", error < 0.05, "largest error of the half axis %.1f %%" % (100 * error))

def period(t, ratio):
    """The second time that the drop is round again."""
    k = [k for k in range(2, len(t) - 1) if (ratio[k] - 1) * (ratio[k + 1] - 1) < 0][1]
    return float(t[k] + (ratio[k] - 1) / (ratio[k] - ratio[k + 1]) * (t[k + 1] - t[k]))


for row, solver in enumerate(("weak", "incompressible")):
    axis, errors = axes[row, 4], []
    for k, across in enumerate((10, 20, 40)):
        run = read(os.path.join(OUT, "swing_%s_%d.csv" % (solver, across)))
        exact = period(run["t"], run["exact"])
        errors.append(period(run["t"], run["ratio"]) / exact - 1)
        axis.plot(run["t"], run["ratio"], color=COLORS[k], label="%d in the radius" % across)
    axis.plot(run["t"][::4], run["exact"][::4], "o", ms=3, color="#c8452d", label="exact")
    axis.set(title="Swinging drop, %s" % ("weakly compressible" if solver == "weak" else solver), xlabel="t, s", ylabel="width / height")
    axis.legend(fontsize=7, frameon=False)
    sizes = [abs(e) for e in errors]
    check("swinging drop, %s: period" % solver, sizes[2] < 0.01 and sizes[0] > sizes[1] > sizes[2],
          "exact %.4f s; errors " % exact + ", ".join("%+.2f %%" % (100 * e) for e in errors))

run, axis = read(os.path.join(OUT, "energy.csv")), axes[1, 2]
axis.plot(run["t"], run["energy"] / run["energy"][0], color="#1f5f8b")
axis.set(title="Stretching drop: energy", xlabel="t, s", ylabel="share of the first")
# Sound crosses the drop once: 0.2 m at ten times the largest speed of 0.5 m/s.
later = run["t"] >= 0.04
drift = float(np.ptp(run["energy"][later]) / run["energy"][later][0])
check("energy after the first sound", drift < 0.01, "changes by %.2f %%" % (100 * drift))
check("mass", float(np.ptp(run["mass"])) == 0, "exact")
scale = float(run["mass"][0]) * 0.25
check("momentum", float(np.abs(run["momentum_x"]).max() + np.abs(run["momentum_y"]).max()) < 1e-5 * scale,
      "largest %.2g of mass times mean speed" % (float(np.abs(run["momentum_x"]).max()) / scale))

run, axis = read(os.path.join(OUT, "layers.csv")), axes[1, 3]
axis.plot(run["t"], run["oil_height"], color="#e0a526", label="oil")
axis.plot(run["t"], run["water_height"], color="#1f5f8b", label="water")
axis.set(title="Two phases: mean heights", xlabel="t, s", ylabel="m")
axis.legend(fontsize=7, frameon=False)
check("layers", run["oil_height"][-1] > run["water_height"][-1] + 0.05,
      "oil at %.3f m, water at %.3f m" % (run["oil_height"][-1], run["water_height"][-1]))

# Viscous flows: within 3 % at 40 particles across, and nearer than with 10 unless both are within 1 %.
with open(os.path.join(OUT, "flows.csv")) as file:
    lines = [line.strip().split(",") for line in file][1:]
for flow, solver in sorted({(line[0], line[1]) for line in lines}):
    errors = [abs(float(line[5])) for line in lines if line[:2] == [flow, solver]]
    check("%s, %s" % (flow, solver), errors[-1] <= 0.03 and (errors[-1] < errors[0] or errors[-1] < 0.01),
          "errors " + ", ".join("%.2f %%" % (100 * e) for e in errors) + " (at most 3 % at 40 across)")

for axis in axes.flat:
    axis.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
figure.savefig(os.path.join(OUT, "validation.png"), dpi=70)
print("plot: %s" % os.path.join(OUT, "validation.png"))
sys.exit(1 if failed else 0)
