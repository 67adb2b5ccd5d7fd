// Puts the live drawing in the place of each still picture, in the chosen language, theme, scale and period.
const charts = (() => {
  const { datasets: columns, specs, configs } = JSON.parse(document.getElementById("charts").textContent);
  const whole = ({ names, rows }) => rows.map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])));
  const datasets = Object.fromEntries(Object.entries(columns).map(([name, table]) => [name, whole(table)]));
  const live = new Map();
  const signals = {};
  const listeners = [];

  const options = () => ({
    ast: true, logLevel: 1, renderer: "svg", defaultStyle: false, actions: false, tooltip: { disableDefaultStyle: true },
    config: configs[prefs.dark() ? "dark" : "light"],
  });

  // Scale and period change the drawing itself: every logarithmic height becomes linear, every time axis is cut.
  const walk = (node, change) => {
    if (Array.isArray(node)) { return node.map((item) => walk(item, change)); }
    if (!node || typeof node !== "object") { return node; }
    const made = change(Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, change)])));
    return made;
  };
  const linear = (channel) => {
    if (channel.scale?.type !== "log") { return channel; }
    const made = { ...channel, scale: { type: "linear", zero: true } };
    if (!channel.axis) { return made; }
    const { values, labelExpr, ...axis } = channel.axis;
    return { ...made, axis: { ...axis, format: channel.scale.domain[1] > 1e15 ? ".1e" : ",.0f" } };
  };
  const period = (channel, years) => {
    if (channel.scale?.type !== "utc") { return channel; }
    const [first, last] = channel.scale.domain;
    const domain = [years[0] ? `${years[0]}-01-01` : first, years[1] ? `${Number(years[1]) + 1}-01-01` : last];
    return { ...channel, scale: { ...channel.scale, domain } };
  };
  const variant = { linear: false, years: ["", ""] };
  const shaped = (spec) => {
    let made = spec;
    const timed = JSON.stringify(spec).includes('"type":"utc"');
    if (!timed) { return made; }
    if (variant.linear) { made = walk(made, linear); }
    if (variant.years.some(Boolean)) { made = walk(made, (node) => period(node, variant.years)); }
    if (variant.linear || variant.years.some(Boolean)) {
      made = { ...made, layer: made.layer.map((layer) => ({ ...layer, mark: { ...layer.mark, clip: true } })) };
    }
    return made;
  };

  const draw = async (place) => {
    const id = place.dataset.chart;
    const turn = (live.get(id)?.turn || 0) + 1;
    const before = live.get(id);
    live.set(id, { turn });
    const box = document.createElement("div");
    box.className = "box";
    box.style.width = "100%";
    place.append(box);
    const spec = { ...shaped(specs[id][prefs.lang()]), datasets };
    spec.params = spec.params?.map((param) => (param.name in signals ? { ...param, value: signals[param.name] } : param));
    const result = await vegaEmbed(box, spec, options());
    if (live.get(id).turn !== turn) { result.finalize(); box.remove(); return; }
    if (before?.result) { before.result.finalize(); }
    [...place.querySelectorAll(".box")].filter((child) => child !== box).forEach((child) => child.remove());
    live.set(id, { turn, result });
    place.dataset.drawn = prefs.lang();
    result.view.addEventListener("click", (event, item) => {
      if (item?.datum?.run_id) { listeners.forEach((listener) => listener(item.datum.run_id, item.tooltip, event)); }
    });
  };

  // Several signals at once, one run of each drawing.
  const set = (values) => {
    Object.assign(signals, values);
    live.forEach(({ result }, id) => {
      const known = new Set((specs[id].en.params || []).map((param) => param.name));
      const mine = Object.entries(values).filter(([name]) => known.has(name));
      if (!result || !mine.length) { return; }
      mine.forEach(([name, value]) => result.view.signal(name, value));
      result.view.runAsync();
    });
  };

  // One drawing after another, each in a turn of its own, so that scrolling goes on in between.
  let queue = Promise.resolve();
  const later = (place) => {
    queue = queue.then(() => new Promise((go) => { setTimeout(go); })).then(() => draw(place)).catch((error) => { console.error(error); });
  };

  const places = [...document.querySelectorAll("[data-chart]")];
  const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    seen.unobserve(entry.target);
    later(entry.target);
  }), { rootMargin: "600px" });
  const start = () => places.forEach((place) => seen.observe(place));
  const redraw = () => places.filter((place) => live.has(place.dataset.chart)).forEach(later);
  const shape = (values) => {
    Object.assign(variant, values);
    redraw();
  };
  window.addEventListener("beforeprint", () => live.forEach(({ result }) => result?.view.width(620).run()));
  window.addEventListener("afterprint", () => window.dispatchEvent(new Event("resize")));

  // Rows that a drawing can show, for the count under its title.
  const rows = (id) => {
    const found = new Map();
    const spec = specs[id].en;
    (spec.layer || []).filter((layer) => layer.mark.type === "point" && !layer.mark.style).forEach((layer) => {
      const data = (layer.data || spec.data)?.name;
      (datasets[data] || []).forEach((row) => { if (row.run_id) { found.set(`${row.run_id}|${row.phase || ""}|${row.date || ""}`, row); } });
    });
    return [...found.values()];
  };
  return { start, redraw, set, shape, rows, ids: Object.keys(specs), view: (id) => live.get(id)?.result?.view, onPick: (listener) => listeners.push(listener) };
})();
