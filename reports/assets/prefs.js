// Language, theme, deep links and printing: what every page shares. The page works without it.
const prefs = (() => {
  const root = document.documentElement;
  const listeners = [];
  const read = (name) => { try { return window.localStorage.getItem("shardbook-" + name); } catch { return null; } };
  const write = (name, value) => { try { window.localStorage.setItem("shardbook-" + name, value); } catch { /* private window */ } };
  const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`)?.value;
  const choose = (name, value) => { const input = document.getElementById(`${name}-${value}`); if (input) { input.checked = true; } };

  // The part of the address after the anchor: #mfu-strip~lang=zh~convention=causal
  const plain = (part) => { try { return decodeURIComponent(part); } catch { return part; } };  // a link cut in the middle of a %xx
  const state = () => Object.fromEntries(location.hash.slice(1).split("~").slice(1).map((pair) => pair.split("=").map((part) => plain(part ?? ""))));
  const keep = (name, value) => {
    const [anchor] = location.hash.slice(1).split("~");
    const pairs = Object.entries({ ...state(), [name]: value }).filter(([, entry]) => entry).map(([key, entry]) => `~${key}=${encodeURIComponent(entry).replace(/%2F/g, "/").replace(/%2C/g, ",")}`);
    const hash = `#${anchor}${pairs.join("")}`;
    if (hash !== (location.hash || "#")) { history.replaceState(null, "", hash); }
  };

  const dark = () => {
    const theme = chosen("theme");
    return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  };

  const apply = () => {
    root.lang = chosen("lang") === "zh" ? "zh-Hans" : "en";
    root.classList.toggle("night", dark());
    document.title = root.dataset[chosen("lang") === "zh" ? "titleZh" : "titleEn"] || document.title;
    listeners.forEach((listener) => listener());
  };
  const start = () => {
    const first = state().lang || read("lang") || (navigator.language.startsWith("zh") ? "zh" : "en");
    choose("lang", first);
    choose("theme", state().theme || read("theme") || "auto");
    for (const name of ["lang", "theme"]) {
      document.querySelectorAll(`input[name="${name}"]`).forEach((input) => input.addEventListener("change", () => {
        write(name, input.value);
        apply();
      }));
    }
    apply();
  };

  // A link into a closed <details> opens it; a link with state scrolls to its anchor.
  const arrive = () => {
    const target = document.getElementById(plain(location.hash.slice(1).split("~")[0]));
    for (let node = target; node; node = node.parentElement) { if (node.tagName === "DETAILS") { node.open = true; } }
    if (target) { target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", arrive);
  window.addEventListener("beforeprint", () => document.querySelectorAll("#main details.short").forEach((node) => { node.open = true; }));
  return { start, apply, arrive, state, keep, dark, lang: () => chosen("lang") || "en", onChange: (listener) => listeners.push(listener) };
})();
