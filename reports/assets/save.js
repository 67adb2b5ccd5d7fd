// A picture that leaves the page carries its title, subtitle, key, source, licence and date.
(() => {
  const { build, words } = JSON.parse(document.getElementById("runs-index").textContent);
  const SPACE = "http://www.w3.org/2000/svg";
  const shown = (element) => [...element.querySelectorAll("[lang]")].length
    ? [...element.childNodes].map((child) => (child.nodeType === 3 ? child.textContent : child.nodeType === 1 && visible(child) ? shown(child) : "")).join("")
    : element.textContent;
  const visible = (element) => !element.classList.contains("anchor") && !element.hidden && getComputedStyle(element).display !== "none";
  const text = (element) => (element ? shown(element).replace(/\s+/g, " ").trim() : "");
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(["ink", "soft", "paper", "grid"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  };
  const FONT = getComputedStyle(document.body).fontFamily;
  const measure = document.createElement("canvas").getContext("2d");
  const lines = (words_, size, weight, width) => {
    measure.font = `${weight} ${size}px ${FONT}`;
    const parts = words_.match(/[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef]+\s*|\s+/g) || [];
    const made = [""];
    parts.forEach((part) => {
      if (made.at(-1) && measure.measureText(made.at(-1) + part.trimEnd()).width > width) { made.push(""); }
      made[made.length - 1] += part;
    });
    return made.map((line) => line.trimEnd());
  };
  const element = (name, attributes, content) => {
    const made = document.createElementNS(SPACE, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (content !== undefined) { made.textContent = content; }
    return made;
  };

  // Colours of the page's own pictures stand in its style sheet; a saved one has to carry them.
  const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"];
  const inlined = (source) => {
    const copy = source.cloneNode(true);
    const from = [source, ...source.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((one, place) => {
      const style = getComputedStyle(from[place]);
      PAINTED.forEach((name) => { const value = style.getPropertyValue(name); if (value && value !== "none" || name === "fill") { one.setAttribute(name, value); } });
      one.removeAttribute("class");
    });
    return copy;
  };

  const drawing = async (figure) => {
    const chart = figure.querySelector("[data-chart]");
    if (chart) {
      const view = charts.view(chart.dataset.chart);
      const parsed = new DOMParser().parseFromString(await view.toSVG(), "image/svg+xml").documentElement;
      return { svg: parsed, width: Number(parsed.getAttribute("width")), height: Number(parsed.getAttribute("height")) };
    }
    const source = [...figure.querySelectorAll("svg.dots")].filter((one) => one.getBoundingClientRect().width > 0);
    const group = element("svg", {});
    let top = 0;
    let width = 0;
    for (const one of source) {
      const box = one.getBoundingClientRect();
      const caption = text(one.closest("[data-picture]")?.querySelector("figcaption, .caption"));
      for (const line of lines(caption, 12, "400", 700)) {
        group.append(element("text", { x: 0, y: top + 14, "font-size": 12, "font-family": FONT, fill: paint().ink }, line));
        top += 17;
      }
      const copy = inlined(one);
      Object.entries({ x: 0, y: top + 4, width: box.width, height: box.height }).forEach(([key, value]) => copy.setAttribute(key, value));
      group.append(copy);
      top += box.height + 18;
      width = Math.max(width, box.width);
    }
    return { svg: group, width, height: top };
  };

  const compose = async (figure) => {
    const { svg, width, height } = await drawing(figure);
    const wide = Math.max(width, 480);
    const ink = paint();
    const made = element("svg", { xmlns: SPACE });
    let y = 8;
    const write = (content, size, weight, fill, gap) => lines(content, size, weight, wide).filter(Boolean).forEach((line) => {
      y += gap;
      made.append(element("text", { x: 16, y, "font-size": size, "font-weight": weight, fill, "font-family": FONT }, line));
    });
    write(text(figure.querySelector("h1, h2, h3")), 17, "700", ink.ink, 22);
    y += 4;
    write(text(figure.querySelector(".subtitle")), 12, "400", ink.soft, 16);
    let x = 16;
    const keys = [...figure.querySelectorAll(":scope > .key > span")];
    if (keys.length) { y += 22; }
    keys.forEach((key) => {
      const mark = key.querySelector("svg");
      const label = text(key);
      measure.font = `400 12px ${FONT}`;
      const size = measure.measureText(label).width + 34;
      if (x + size > wide + 16 && x > 16) { x = 16; y += 18; }
      if (mark) {
        const copy = inlined(mark);
        Object.entries({ x, y: y - 11, width: 14, height: 14 }).forEach(([name, value]) => copy.setAttribute(name, value));
        made.append(copy);
      }
      made.append(element("text", { x: x + (mark ? 18 : 0), y, "font-size": 12, fill: ink.soft, "font-family": FONT }, label));
      x += size;
    });
    y += 12;
    Object.entries({ x: 16, y }).forEach(([name, value]) => svg.setAttribute(name, value));
    if (!svg.getAttribute("width")) { svg.setAttribute("width", width); svg.setAttribute("height", height); }
    svg.setAttribute("overflow", "visible");
    made.append(svg);
    y += height + 6;
    const said = words[prefs.lang()];
    write([said.saved.replace("{date}", build.date), build.address, said.licence].filter(Boolean).join(" · "), 11, "400", ink.soft, 16);
    const size = { width: wide + 32, height: y + 14 };
    made.prepend(element("rect", { width: size.width, height: size.height, fill: ink.paper }));
    Object.entries({ ...size, viewBox: `0 0 ${size.width} ${size.height}` }).forEach(([name, value]) => made.setAttribute(name, value));
    return { markup: new XMLSerializer().serializeToString(made), ...size };
  };

  const give = (href, name) => {
    const link = document.createElement("a");
    Object.assign(link, { href, download: name });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const address = (markup) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(markup)}`;
  const save = async (figure, kind) => {
    const { markup, width, height } = await compose(figure);
    const name = `shardbook-${figure.id}.${kind}`;
    if (kind === "svg") { give(address(markup), name); return; }
    const image = new Image();
    image.src = address(markup);
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    context.drawImage(image, 0, 0);
    give(canvas.toDataURL("image/png"), name);
  };
  document.querySelectorAll("button[data-save]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => save(button.closest("figure, .hero"), button.dataset.save));
  });
})();
