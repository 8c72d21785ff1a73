// Configures uPlot for each chart of the page. Colours are the style sheet's, read at each drawing, so that
// light, dark and print need nothing more than to draw again.
"use strict";
{
  const COLOURS = 6; // --line-1 to --line-6
  const DASHES = [[], [8, 5], [2, 4]];
  const DASH_NAMES = ["solid", "dashed", "dotted"];
  const PAPER = { width: 640, height: 300 };

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Headwater has a look of its own. Neighbours in the list of the others differ in colour and in dash; after
  // eighteen the same looks come again, with hollow points.
  const look = (place) => {
    if (place === 0) return { colour: "--text", dash: 0, width: 3, hollow: false };
    const i = place - 1;
    const row = Math.floor(i / COLOURS);
    return { colour: `--line-${(i % COLOURS) + 1}`, dash: (i + row) % DASHES.length, width: 2, hollow: i >= 18 };
  };

  const digits = (n) => n.toLocaleString("en", { maximumSignificantDigits: 3 });
  const scaled = (n, base, units) => {
    let power = 0;
    while (n >= base && power < units.length - 1) { n /= base; power += 1; }
    return `${digits(n)} ${units[power]}`;
  };
  const SHOW = {
    bytes: (n) => scaled(n, 1024, ["B", "KiB", "MiB", "GiB"]),
    ns: (n) => scaled(n, 1000, ["ns", "µs", "ms", "s"]),
    count: (n) => String(n),
    "GB/s": (n) => `${digits(n)} GB/s`,
    "M/s": (n) => `${digits(n)} M/s`,
  };

  // Over many decades, lines for each of their tenths would be a grey wall.
  const decades = (of) => (_, splits) =>
    of.log === 10 ? splits.map((n) => (Number.isInteger(Math.log10(n)) ? n : null)) : splits;

  const axis = (of, show, more) => ({
    label: of.label,
    stroke: () => style("--text"),
    grid: { stroke: () => style("--grid"), width: 1, filter: decades(of) },
    ticks: { stroke: () => style("--grid"), width: 1, filter: decades(of) },
    values: (_, splits) => splits.map((n) => (n === null ? null : show(n))),
    ...more,
  });

  const scale = (of, more) => (of.log ? { distr: 3, log: of.log, ...more } : more);

  const make = (chart, figure) => {
    const showX = chart.names ? (n) => chart.names[n] ?? "" : SHOW[chart.x.unit];
    const showY = SHOW[chart.y.unit];
    // Thread counts and percentiles are few: each has its own tick.
    const few = chart.x.unit === "bytes" ? { space: 45 } : { splits: () => chart.places, filter: (_, splits) => splits };
    const options = {
      ...size(figure),
      scales: {
        x: scale(chart.x, { time: false, range: chart.names ? (_, low, high) => [low - 0.3, high + 0.3] : undefined }),
        y: scale(chart.y, chart.y.log ? {} : { range: (_, low, high) => [0, high * 1.05] }),
      },
      axes: [axis(chart.x, showX, few), axis(chart.y, showY, { size: 74 })],
      series: [
        { label: chart.x.label, value: (_, n) => (n === null ? "" : showX(n)) },
        ...chart.lines.map((line) => {
          const { colour, dash, width, hollow } = look(line.look);
          return {
            label: line.name,
            show: line.shown,
            stroke: () => style(colour),
            width,
            dash: DASHES[dash],
            spanGaps: true,
            points: { show: true, size: 7, fill: () => style(hollow ? "--page" : colour) },
            value: (_, n) => (n === null ? "" : showY(n)),
          };
        }),
      ],
      cursor: { drag: { x: false, y: false }, focus: { prox: 24 } },
      focus: { alpha: 0.25 },
      legend: {
        markers: {
          width: (_, i) => look(chart.lines[i - 1].look).width,
          stroke: (_, i) => `var(${look(chart.lines[i - 1].look).colour})`,
          dash: (_, i) => DASH_NAMES[look(chart.lines[i - 1].look).dash],
        },
      },
      hooks: { ready: [forKeyboards] },
    };
    return new uPlot(options, [chart.places, ...chart.lines.map((line) => line.values)], figure);
  };

  const forKeyboards = (plot) => {
    const heads = plot.root.querySelectorAll(".u-legend .u-series:not(:first-child) th");
    for (const [i, head] of heads.entries()) {
      head.tabIndex = 0;
      head.setAttribute("role", "button");
      const tell = () => head.setAttribute("aria-pressed", String(plot.series[i + 1].show));
      tell();
      head.addEventListener("click", tell);
      head.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        head.dispatchEvent(new MouseEvent("click", { ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
      });
    }
  };

  const size = (figure) => ({
    width: figure.clientWidth,
    height: Math.round(Math.min(Math.max(0.62 * figure.clientWidth, 260), 420)),
  });

  const figures = [...document.querySelectorAll("figure")];
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const folded = [...document.querySelectorAll("details")];

  // Charts are made when a reader unfolds them, because folded ones have no width.
  let plots = null;
  let printing = false;
  const fit = () => {
    if (plots === null) {
      if (!folded.some((part) => part.open)) return;
      plots = figures.map((figure, i) => make(charts[i], figure));
    }
    for (const [i, plot] of plots.entries()) plot.setSize(printing ? PAPER : size(figures[i]));
  };
  const closed = new Set();
  const print = (on) => () => {
    printing = on;
    // Paper cannot be unfolded.
    for (const part of folded) {
      if (on && !part.open) closed.add(part);
      part.open = on || !closed.delete(part);
    }
    // The charts are drawn before the style sheet knows of the printer.
    document.documentElement.classList.toggle("printing", on);
    fit();
  };
  for (const part of folded) part.addEventListener("toggle", fit);
  addEventListener("resize", fit);
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit);

  for (const time of document.querySelectorAll("time")) {
    time.dateTime = new Date(1000 * time.dataset.seconds).toISOString();
    time.textContent = `${time.dateTime.slice(0, 16).replace("T", " ")} UTC`;
  }
}
