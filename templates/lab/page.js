"use strict";
// Everything that comes from the lab becomes text or an attribute of an element made here, never markup.
(() => {
  const EVERY = 2000;
  const SVG = "http://www.w3.org/2000/svg";
  const at = (id) => document.getElementById(id);
  const asked = new URLSearchParams(location.hash.slice(1));
  const token = asked.get("token") || "";
  const chosen = { world: asked.get("world") || "", component: asked.get("component") || "" };
  const drawn = {};

  function make(tag, attributes, ...children) {
    const svg = ["svg", "g", "rect", "line", "path", "text", "title", "defs", "marker", "circle"].includes(tag);
    const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  // What has not changed stays, so that nobody who reads, selects or moves by keyboard is disturbed.
  function show(id, content, build) {
    const text = JSON.stringify(content);
    if (drawn[id] === text) return;
    drawn[id] = text;
    const place = at(id);
    const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("data-key") : null;
    place.replaceChildren(...build());
    if (focused !== null) {
      const again = [...place.querySelectorAll("[data-key]")].find((e) => e.getAttribute("data-key") === focused);
      if (again) again.focus();
    }
  }

  const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19);
  const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
  const soft = (text) => make("span", { class: "soft" }, text);
  const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

  async function ask(path) {
    const response = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.error), { fix: answer.fix, status: response.status });
    return answer;
  }

  function remember() {
    const hash = new URLSearchParams({ token, ...(chosen.world && { world: chosen.world }),
      ...(chosen.component && { component: chosen.component }) });
    history.replaceState(null, "", `#${hash}`);
  }

  function worlds(list) {
    at("nothing").hidden = list.length > 0 || chosen.world !== "";
    show("worlds", [list.map((w) => [w.namespace, w.trial, w.mode, w.app]), chosen.world], () => list.map((world) => {
      const current = world.namespace === chosen.world;
      const told = [world.app, world.trial, world.mode === "Virtual" ? "virtual time" : "real time"];
      const button = make("button", { type: "button", "data-key": world.namespace, "aria-current": current ? "true" : "false" },
        world.namespace, make("span", { class: "soft" }, told.filter(Boolean).join(" · ")));
      button.addEventListener("click", () => { choose(world.namespace); });
      return make("li", {}, button);
    }));
  }

  function choose(namespace) {
    if (chosen.world !== namespace) chosen.component = "";
    chosen.world = namespace;
    remember();
    refresh();
  }

  function facts(world) {
    at("title").textContent = world.scenario ? `${world.scenario} in ${world.namespace}` : world.namespace;
    const firing = world.alerts.filter((alert) => alert.state === "Firing").length;
    const badge = (number, word, tone) =>
      make("span", { class: `badge ${number ? tone : "plain"}` }, `${number} ${word}`);
    const told = [
      `${clock(world.now)} UTC${world.mode === "Virtual" ? ", virtual" : ""}`,
      `running for ${minutes(Math.max(world.now - world.startedAt, 0))}`,
      world.injectedAt === null ? "" : `${minutes(Math.max(world.now - world.injectedAt, 0))} since the injection`,
      world.outcome ? `outcome: ${world.outcome}` : world.step ? `step: ${world.step}` : "",
    ];
    show("facts", [told, firing, world.alerts.length, world.counts], () => [
      badge(firing, "firing", "bad"), badge(world.alerts.length - firing, "pending", "open"),
      badge(world.counts.bad, "broken", "bad"), badge(world.counts.open, "degraded", "open"),
      ...told.filter(Boolean).map(soft)]);
  }

  function pick(name) {
    chosen.component = name;
    remember();
    graph(drawn.last);
    unwell(drawn.last);
    logs().catch((error) => trouble(error, false));
  }

  // The graph is wide; this says the same of what matters, and fits a phone.
  function worst(world) {
    const rank = (c) => (c.tone === "bad" ? 0 : 2) + (c.firing.length ? 0 : 1);
    return world.components.filter((c) => c.tone === "bad" || c.tone === "open").sort((a, b) => rank(a) - rank(b));
  }

  function unwell(world) {
    const found = worst(world);
    show("unwell", [found, chosen.component], () => found.map((component) => {
      const { name, tone, word, firing } = component;
      const button = make("button", { type: "button", "data-key": name, "aria-pressed": name === chosen.component ? "true" : "false" },
        `${name} `, make("span", { class: tone }, [word === "works" ? "" : word, ...firing.map((alert) => `▲ ${alert}`)].filter(Boolean).join(", ")));
      button.addEventListener("click", () => pick(name));
      return make("li", {}, button);
    }));
  }

  function graph(world) {
    show("graph", [world.graph, world.components, chosen.component], () => {
      const { graph: { width, height, box, places, arrows }, components } = world;
      const by = Object.fromEntries(components.map((c) => [c.name, c]));
      const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
      svg.append(make("defs", {}, make("marker", { id: "head", viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 6,
        markerHeight: 6, orient: "auto" }, make("path", { class: "head", d: "M0 0 L8 4 L0 8 z" }))));
      const weight = (arrow) => ["plain", "good", "open", "bad"].indexOf(by[arrow.callee].tone);
      for (const arrow of [...arrows].sort((a, b) => weight(a) - weight(b))) {
        const callee = by[arrow.callee];
        const tone = callee.tone === "bad" || callee.tone === "open" ? callee.tone : "";
        const faint = callee.role === "Flags" && !tone ? "faint" : "";
        svg.append(make("path", { class: `edge ${arrow.mode} ${tone} ${faint}`, d: arrow.path, "marker-end": "url(#head)" },
          make("title", {}, `${arrow.caller} → ${arrow.callee}`)));
      }
      for (const place of places) svg.append(node(by[place.name], place, box));
      return [svg];
    });
    fit(world.graph.box[0]);
  }

  // Fonts differ in width, and a name must not leave its box: one that would is drawn closer together.
  function fit(width) {
    for (const text of document.querySelectorAll("#graph g[role=button] text:not([text-anchor])")) {
      const left = Number(text.getAttribute("x")) - Number(text.parentNode.querySelector("rect").getAttribute("x"));
      const right = text.classList.contains("name") && text.parentNode.querySelector("[text-anchor]") ? 34 : 6;
      const room = width - left - right;
      if (!text.hasAttribute("textLength") && text.getComputedTextLength() > room) {
        text.setAttribute("textLength", room);
        text.setAttribute("lengthAdjust", "spacingAndGlyphs");
      }
    }
  }

  function node(component, { x, y }, [width, height]) {
    const { name, tone, word, detail, firing, restarts, ready } = component;
    const second = tone === "good" ? detail || word : word;
    const all = [name, ready && `${ready} ready`, word, detail, restarts && `${restarts} restarts`,
      firing.length && `firing: ${firing.join(", ")}`].filter(Boolean).join(", ");
    const group = make("g", { role: "button", tabindex: 0, "data-key": name, "aria-label": all,
      "aria-pressed": name === chosen.component ? "true" : "false" },
      make("rect", { class: `box ${tone}`, x, y, width, height, rx: 6 }), make("title", {}, all),
      make("circle", { class: `dot ${tone}`, cx: x + 12, cy: y + 15, r: 4 }),
      make("text", { class: "name", x: x + 22, y: y + 19 }, cut(name, 24)),
      make("text", { class: tone === "good" ? "soft" : tone, x: x + 10, y: y + 37 }, cut(second, 23)),
      firing.length ? make("text", { class: "bad", x: x + width - 8, y: y + 19, "text-anchor": "end" }, `▲${firing.length}`) : null);
    group.addEventListener("click", () => pick(name));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(name); }
    });
    return group;
  }

  function alerts(world) {
    const chart = world.chart;
    at("scale").textContent = (chart && chart.faulty ? "Minutes from the injection" : "Minutes from the beginning")
      + ", in the time of this world. Solid: firing; pale: pending.";
    show("now", [world.alerts, world.now], () => world.alerts.map((alert) => make("li", {},
      make("span", { class: alert.state === "Firing" ? "bad" : "open" }, alert.state.toLowerCase()), ` ${alert.name}`,
      alert.entity ? ` on ${alert.entity}` : "", soft(` for ${minutes(Math.max(world.now - alert.since, 0))}`))));
    show("alerts", chart, () => {
      if (!chart) return [make("p", { class: "soft" }, "No samples yet.")];
      const { width, height, head, lane } = chart;
      const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label":
        chart.rows.map((row) => `${row.name} ${row.entity}: ${row.bars.map((bar) => bar.text).join("; ")}`).join(". ") || "no alert" });
      const bottom = height - 20;
      if (chart.faulty && chart.removed > chart.injected) {
        svg.append(make("rect", { class: "window", x: chart.injected, y: head, width: chart.removed - chart.injected,
          height: bottom - head - 2 }, make("title", {}, "the fault is in force")));
      }
      for (const band of chart.bands) {
        svg.append(make("g", {}, make("rect", { class: `band ${band.outcome === "Broken" ? "broken" : ""}`, x: band.x, y: 4,
          width: band.width, height: 22 }), make("title", {}, `${band.name}: ${band.outcome}`),
          band.short ? make("text", { x: band.x + 4, y: 19 }, band.short) : null));
      }
      for (const tick of chart.ticks) {
        svg.append(make("line", { class: "tick", x1: tick.x, x2: tick.x, y1: head, y2: bottom }),
          make("text", { class: "soft", x: tick.x, y: height - 6, "text-anchor": "middle" }, tick.text));
      }
      if (chart.faulty) {
        svg.append(make("line", { class: "fault", x1: chart.injected, x2: chart.injected, y1: head - 4, y2: bottom }));
      }
      for (const row of chart.rows) {
        const middle = row.y + row.height / 2;
        svg.append(make("g", {}, make("text", { x: 0, y: row.entity ? middle - 3 : middle + 4 }, cut(row.name, 42)),
          row.entity ? make("text", { class: "soft", x: 0, y: middle + 12 }, cut(row.entity, 42)) : null,
          make("title", {}, `${row.name} ${row.entity}`)));
        for (const bar of row.bars) {
          svg.append(make("rect", { class: bar.state, x: bar.x, y: bar.y, width: bar.width, height: lane - 2 },
            make("title", {}, bar.text)));
        }
      }
      if (!chart.rows.length) svg.append(make("text", { class: "soft", x: 0, y: head + 20 }, "no alert so far"));
      return [svg];
    });
  }

  function events(world) {
    show("events", world.events, () => world.events.length ? world.events.map((event) => make("p", {},
      make("span", { class: "at" }, event.at.slice(11, 19)), " ",
      make("span", { class: event.type === "Warning" ? "bad" : "" }, event.reason), " ", soft(event.object),
      event.count > 1 ? soft(` ×${event.count}`) : null, make("br"), event.message)) : [soft("none")]);
  }

  async function logs() {
    const [namespace, component] = [chosen.world, chosen.component];
    at("logs-title").textContent = component ? `Logs of ${component}` : "Logs";
    if (!component) { show("logs", "", () => [soft("Choose a component above.")]); return; }
    const { lines } = await ask(`/api/worlds/${namespace}/logs/${component}`);
    if (namespace !== chosen.world || component !== chosen.component) return;
    const place = at("logs");
    const atEnd = drawn.component !== component || place.scrollHeight - place.scrollTop - place.clientHeight < 30;
    drawn.component = component;
    const several = new Set(lines.map((line) => line.pod)).size > 1;
    show("logs", lines, () => lines.length ? lines.flatMap((line) => [
      make("span", { class: "at" }, `${clock(line.at)} ${several ? line.pod.slice(-5) + " " : ""}`), line.text, "\n",
    ]) : [soft("no line within the last ten minutes")]);
    if (atEnd) place.scrollTop = place.scrollHeight;
  }

  function trouble(error, gone) {
    at("trouble").hidden = !error;
    if (error) at("trouble").textContent = error.fix ? `${error.message} – ${error.fix}` : error.message;
    at("world").classList.toggle("over", Boolean(error && gone));
  }

  async function look() {
    const list = (await ask("/api/worlds")).worlds;
    if (!chosen.world && list.length) { chosen.world = list[0].namespace; remember(); }
    worlds(list);
    const plural = list.length === 1 ? "one world" : `${list.length} worlds`;
    at("state").textContent = plural;
    if (!chosen.world) { at("world").hidden = true; trouble(null); return; }
    if (!list.some((world) => world.namespace === chosen.world)) {
      trouble({ message: `The world in ${chosen.world} has ended` + (drawn.last ? "; this is how it was seen last." : ".") }, true);
      return;
    }
    const world = await ask(`/api/worlds/${chosen.world}`);
    if (world.namespace !== chosen.world) return;
    drawn.last = world;
    if (!chosen.component) {
      const [first] = worst(world);
      if (first) chosen.component = first.name;
    }
    at("world").hidden = false;
    facts(world); unwell(world); graph(world); alerts(world); events(world);
    trouble(null);
    await logs();
  }

  let busy = false, again = false, timer = 0;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    clearTimeout(timer);
    try {
      await look();
    } catch (error) {
      trouble(error instanceof TypeError ? { message: "The page's server does not answer", fix: "is 'scenario-kit lab open' still running?" } : error, true);
    } finally {
      busy = false;
      timer = setTimeout(refresh, again ? 0 : document.hidden ? 5 * EVERY : EVERY);
      again = false;
    }
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  addEventListener("hashchange", () => location.reload());
  refresh();
})();
