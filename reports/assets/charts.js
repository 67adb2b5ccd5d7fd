// Puts the live drawing in the place of each still picture, in the chosen language and theme.
(() => {
  const { datasets, specs, configs, words } = JSON.parse(document.getElementById("charts").textContent);
  const live = new Map();
  const signals = {};

  const options = (id) => ({
    ast: true, logLevel: 1, renderer: "svg", defaultStyle: false, forceActionsMenu: true, scaleFactor: { png: 2, svg: 1 }, tooltip: { disableDefaultStyle: true }, config: configs[prefs.dark() ? "dark" : "light"],
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
    downloadFileName: `shardbook-${id}`, i18n: words[prefs.lang()],
  });

  const draw = async (place) => {
    const id = place.dataset.chart;
    const turn = (live.get(id)?.turn || 0) + 1;
    const before = live.get(id);
    live.set(id, { turn });
    const spec = { ...specs[id][prefs.lang()], datasets };
    const box = document.createElement("div");
    box.className = "box";
    box.style.width = "100%";
    place.append(box);
    const result = await vegaEmbed(box, spec, options(id));
    if (live.get(id).turn !== turn) { result.finalize(); box.remove(); return; }
    if (before?.result) { before.result.finalize(); }
    [...place.querySelectorAll('.box')].filter((child) => child !== box).forEach((child) => child.remove());
    live.set(id, { turn, result });
    box.querySelector("summary")?.setAttribute("aria-label", words[prefs.lang()].CLICK_TO_VIEW_ACTIONS);
    place.dataset.drawn = prefs.lang();
    Object.entries(signals).forEach(([name, value]) => signal(id, name, value));
  };

  const signal = (id, name, value) => {
    const view = live.get(id)?.result?.view;
    if (view && specs[id].en.params?.some((param) => param.name === name)) { view.signal(name, value).runAsync(); }
  };

  const choose = (name, value) => {
    signals[name] = value;
    document.querySelectorAll(`.choice[data-signal="${name}"] input`).forEach((input) => { input.checked = input.value === value; });
    live.forEach((_, id) => signal(id, name, value));
  };

  const places = [...document.querySelectorAll("[data-chart]")];
  const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    seen.unobserve(entry.target);
    draw(entry.target);
  }), { rootMargin: "600px" });

  document.querySelectorAll(".choice").forEach((choice) => choice.addEventListener("change", (event) => {
    prefs.keep(choice.dataset.signal, event.target.value);
    choose(choice.dataset.signal, event.target.value);
  }));
  prefs.start();
  Object.entries(prefs.state()).filter(([name]) => document.querySelector(`.choice[data-signal="${name}"]`)).forEach(([name, value]) => choose(name, value));
  places.forEach((place) => seen.observe(place));
  const redraw = () => places.filter((place) => live.has(place.dataset.chart)).forEach((place) => draw(place));
  prefs.onChange(redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", prefs.apply);
  window.addEventListener("beforeprint", () => live.forEach(({ result }) => result?.view.width(620).run()));
  window.addEventListener("afterprint", () => window.dispatchEvent(new Event("resize")));
  prefs.arrive();
})();
