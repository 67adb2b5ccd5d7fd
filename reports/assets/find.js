// One search field, filters and a card: a chosen run is marked in every figure and kept in the address.
(() => {
  const { runs, clusters, words } = JSON.parse(document.getElementById("runs-index").textContent);
  const FACTS = ["params_total", "params_active", "tokens", "accelerators", "accelerator", "compute_flop", "mfu_6nd", "mfu_reported"];
  runs.forEach((run) => {
    run.facts = Object.fromEntries(FACTS.map((name, place) => [name, run.facts[place]]));
    run.owners ??= [run.org];
    ["countries", "chip", "sparsity", "size"].forEach((name) => { run[name] ??= []; });
  });
  const byId = new Map(runs.map((run) => [run.id, run]));
  const say = (key, values = {}) => Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, value), words[prefs.lang()][key] ?? key);
  const node = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => (key in made && key !== "list" ? (made[key] = value) : made.setAttribute(key, value)));
    made.append(...children);
    return made;
  };
  const MOST = 4;
  let chosen = [];
  let picked = {};

  // Filters
  const form = document.getElementById("filters");
  const selects = [...form.querySelectorAll("select")];
  const boxes = [...form.querySelectorAll("input[type=checkbox]")];
  const passes = (one, wanted) => ["owners", "countries", "chip", "sparsity", "size"].every((name) => !wanted[name] || !one[name] || one[name].includes(wanted[name]));
  const filter = () => {
    const wanted = Object.fromEntries(selects.filter((select) => select.value).map((select) => [select.name, select.value]));
    const years = [wanted.from, wanted.to];
    const within = (run) => (!years[0] || run.year >= Number(years[0])) && (!years[1] || run.year <= Number(years[1]));
    const all = !Object.keys(wanted).length;
    const kept = {};
    runs.filter((run) => passes(run, wanted) && within(run)).forEach((run) => { kept[run.id] = true; });
    const count = Object.keys(kept).length;
    clusters.filter((one) => !wanted.sparsity && !wanted.size && passes(one, wanted)).forEach((one) => { kept[one.id] = true; });
    const ticked = Object.fromEntries(boxes.map((box) => [box.name, box.checked]));
    charts.set({ all, kept, estimates: ticked.estimates, trends: ticked.trends });
    charts.shape({ linear: ticked.linear, years: years.map((year) => year || "") });
    selects.forEach((select) => prefs.keep(select.name, select.value));
    prefs.keep("estimates", ticked.estimates ? "" : "off");
    prefs.keep("trends", ticked.trends ? "" : "off");
    prefs.keep("linear", ticked.linear ? "on" : "");
    document.querySelectorAll("tr[data-run], details[data-run]").forEach((row) => { row.hidden = !all && !kept[row.dataset.run]; });
    const note = document.getElementById("kept");
    note.textContent = all ? "" : say("kept", { k: count, n: runs.length });
    charts.ids.forEach((id) => {
      const place = document.querySelector(`#${CSS.escape(id)} .shown`);
      const rows = place ? charts.rows(id) : [];
      if (!rows.length) { return; }
      const here = rows.filter((row) => (all || kept[row.run_id]) && (ticked.estimates || row.status !== "estimated"));
      place.hidden = here.length === rows.length;
      place.textContent = say("shown", { k: here.length, n: rows.length });
    });
  };

  // The card: what is known of the chosen runs, side by side.
  const card = document.getElementById("card");
  const fact = (name) => node("tr", {}, node("th", { scope: "row" }, words[prefs.lang()].facts.split("|")[FACTS.indexOf(name)]), ...chosen.map((id) => node("td", {}, byId.get(id)?.facts[name] || "–")));
  const show = () => {
    card.hidden = !chosen.length;
    card.replaceChildren();
    if (!chosen.length) { return; }
    const known = chosen.filter((id) => byId.has(id));
    const head = node("tr", {}, node("td"), ...chosen.map((id) => {
      const run = byId.get(id) ?? clusters.find((one) => one.id === id);
      const name = byId.has(id) ? node("a", { href: `runs/${id}.html` }, run.name) : node("b", {}, run?.name ?? id);
      const drop = node("button", { type: "button", ariaLabel: `${say("remove")}: ${run?.name ?? id}` }, "×");
      drop.addEventListener("click", () => choose(chosen.filter((one) => one !== id)));
      return node("th", { scope: "col" }, name, " ", drop, node("br"), node("small", {}, run?.org ?? ""));
    }));
    const rows = known.length ? FACTS.filter((name) => known.some((id) => byId.get(id).facts[name])).map(fact) : [];
    const when = node("tr", {}, node("th", { scope: "row" }, say("when")), ...chosen.map((id) => node("td", {}, byId.get(id)?.when ?? "–")));
    const sources = node("tr", {}, node("th", { scope: "row" }, say("source")), ...chosen.map((id) => {
      const run = byId.get(id);
      return node("td", {}, run?.url ? node("a", { href: run.url, rel: "noreferrer" }, run.title) : "–");
    }));
    const here = Object.entries(picked).filter(([, text]) => String(text).trim()).map(([key, text]) => `${key}: ${text}`);
    const close = node("button", { type: "button", className: "close", ariaLabel: say("close") }, "×");
    close.addEventListener("click", () => choose([]));
    const copy = node("button", { type: "button" }, words[prefs.lang()].copy);
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(location.href); } catch { window.prompt("", location.href); }
      copy.textContent = say("copied");
    });
    const body = node("div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: say("page") }, node("table", {}, node("tbody", {}, head, ...(known.length ? [when, ...rows, sources] : []))));
    card.append(close, body, ...(here.length ? [node("p", { className: "picked" }, here.join(" · "))] : []), node("p", {}, copy));
  };
  const choose = (ids) => {
    chosen = ids.filter((id) => byId.has(id) || clusters.some((one) => one.id === id)).slice(-MOST);
    if (!chosen.length) { picked = {}; }
    charts.set({ chosen: Object.fromEntries(chosen.map((id) => [id, true])) });
    document.querySelectorAll("[data-run]").forEach((row) => row.classList.toggle("chosen", chosen.includes(row.dataset.run)));
    document.querySelectorAll("[data-picture]").forEach((one) => { one.hidden = !chosen.includes(one.dataset.picture) && !one.dataset.always; });
    prefs.keep("run", chosen.join(","));
    show();
  };
  charts.onPick((id, tooltip) => {
    picked = typeof tooltip === "object" && tooltip ? tooltip : {};
    choose([...chosen.filter((one) => one !== id), id]);
  });

  // The search field: a list of matches, moved through by the arrows.
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  const text = new Map(runs.map((run) => [run.id, [run.name, run.org, run.id, run.facts.accelerator, ...run.chip].join(" ").toLowerCase()]));
  let at = -1;
  const matches = () => {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!parts.length) { return []; }
    // Names that begin with the words first, pretraining before post-training, short names before long ones.
    const far = (run) => (run.name.toLowerCase().startsWith(field.value.toLowerCase().trim()) ? 0 : 1000) + (run.post ? 100 : 0) + run.name.length;
    return runs.filter((run) => parts.every((part) => text.get(run.id).includes(part))).sort((a, b) => far(a) - far(b)).slice(0, 12);
  };
  const close = () => { list.hidden = true; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
  const take = (id) => { choose([...chosen.filter((one) => one !== id), id]); field.value = ""; close(); };
  const open = () => {
    const found = matches();
    at = found.length ? 0 : -1;
    list.replaceChildren(...found.map((run, place) => {
      const item = node("li", { id: `found-${place}`, role: "option", ariaSelected: place === 0 ? "true" : "false" }, node("b", {}, run.name), ` ${run.org} · ${run.when}`);
      item.addEventListener("mousedown", (event) => { event.preventDefault(); take(run.id); });
      item.dataset.id = run.id;
      return item;
    }), ...(field.value && !found.length ? [node("li", { role: "option", ariaDisabled: "true" }, say("none"))] : []));
    list.hidden = !field.value;
    field.setAttribute("aria-expanded", String(!list.hidden));
    if (at === 0) { field.setAttribute("aria-activedescendant", "found-0"); }
  };
  const move = (step) => {
    const items = [...list.querySelectorAll("li[data-id]")];
    if (!items.length) { return; }
    at = (at + step + items.length) % items.length;
    items.forEach((item, place) => { item.ariaSelected = String(place === at); });
    field.setAttribute("aria-activedescendant", items[at].id);
    items[at].scrollIntoView({ block: "nearest" });
  };
  field.addEventListener("input", open);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); move(event.key === "ArrowDown" ? 1 : -1); }
    if (event.key === "Enter") { event.preventDefault(); const item = list.querySelectorAll("li[data-id]")[at]; if (item) { take(item.dataset.id); } }
    if (event.key === "Escape") { field.value = ""; close(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); field.focus(); }
    if (event.key === "Escape" && document.activeElement !== field && chosen.length) { choose([]); }
  });

  // Switches of single figures: the convention of MFU, with the title that belongs to it.
  const turn = (name, value) => {
    const inputs = [...document.querySelectorAll(`.choice[data-signal="${name}"] input`)];
    if (!inputs.some((input) => input.value === value)) { return; }
    inputs.forEach((input) => { input.checked = input.value === value; });
    document.querySelectorAll(`[data-when="${name}"]`).forEach((title) => { title.hidden = title.dataset.value !== value; });
    charts.set({ [name]: value });
  };
  document.querySelectorAll(".choice").forEach((choice) => choice.addEventListener("change", (event) => {
    prefs.keep(choice.dataset.signal, event.target.value);
    turn(choice.dataset.signal, event.target.value);
  }));

  prefs.start();
  const state = prefs.state();
  selects.forEach((select) => { if ([...select.options].some((option) => option.value === state[select.name])) { select.value = state[select.name]; } });
  boxes.forEach((box) => { box.checked = box.name === "linear" ? state.linear === "on" : state[box.name] !== "off"; });
  document.querySelectorAll(".choice").forEach((choice) => { if (state[choice.dataset.signal]) { turn(choice.dataset.signal, state[choice.dataset.signal]); } });
  form.addEventListener("change", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  if ([...selects.map((select) => select.value), ...boxes.map((box) => (box.checked === (box.name !== "linear") ? "" : "on"))].some(Boolean)) {
    form.closest("details").open = true;
    filter();
  }
  if (state.run) { choose(state.run.split(",")); }
  charts.start();
  prefs.onChange(() => { charts.redraw(); filter(); show(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", prefs.apply);
  prefs.arrive();
})();
