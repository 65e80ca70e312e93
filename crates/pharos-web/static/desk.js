// Live updates of the desk, which is complete without this script.
"use strict";
(() => {
  const UNITS = ["B", "KB", "MB", "GB", "TB"];
  const bytes = value => {
    let unit = 0;
    while (value >= 1000 && unit < UNITS.length - 1) { value /= 1000; unit++ }
    return (unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)) + " " + UNITS[unit];
  };
  const format = (value, unit) => {
    if (unit === "bytes") return bytes(value);
    if (unit === "part") return Math.round(value * 100) + " %";
    if (value >= 1000) return Math.round(value).toLocaleString("en");
    return value >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1);
  };

  // On narrow screens, scroll the navigation to the current page.
  const here = document.querySelector(".desk-nav [aria-current]");
  if (here) here.closest("ul").scrollLeft = here.offsetLeft - 40;

  // Charts: 300 points, newest on the right.
  const charts = [...document.querySelectorAll("[data-chart]")].map(figure => {
    const line = figure.querySelector("polyline");
    const points = line.getAttribute("points").trim();
    return { figure, line, area: figure.querySelector("polygon"), name: figure.dataset.chart, unit: figure.dataset.unit,
      drawn: points ? points.split(" ").length : 0, values: [] };
  });
  const draw = chart => {
    const values = chart.values;
    const top = chart.unit === "part" ? 1 : Math.max(1, ...values);
    const first = 300 - values.length;
    const points = values.map((value, n) => first + n + "," + (60 - Math.min(1, Math.max(0, value / top)) * 56 - 2).toFixed(1));
    chart.line.setAttribute("points", points.join(" "));
    chart.area.setAttribute("points", points.length ? first + ",60 " + points.join(" ") + " 299,60" : "");
    chart.figure.querySelector("[data-top-label]").textContent = format(top, chart.unit);
  };
  const updateState = async () => {
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("state");
      const text = document.getElementById("state");
      if (!fresh || !text) return;
      text.textContent = fresh.textContent;
      if (new Date().getTimezoneOffset() !== 0) localTimes(text);
    } catch { /* The next change of state tries again. */ }
  };
  const take = sample => {
    const box = document.querySelector("[data-state]");
    // Another state has other texts and buttons, but an idle crawl has those of a running one.
    if (box && box.dataset.state !== sample.state) {
      const runs = [box.dataset.state, sample.state].every(state => ["running", "up-to-date"].includes(state));
      if (!runs) { location.reload(); return }
      box.classList.replace(box.dataset.state, sample.state);
      box.dataset.state = sample.state;
      updateState();
    }
    for (const chart of charts) {
      chart.values.push(sample[chart.name] || 0);
      if (chart.values.length > 300) chart.values.shift();
      draw(chart);
      const figure = chart.figure.querySelector("[data-figure]");
      if (figure) figure.textContent = format(sample[chart.name] || 0, chart.unit);
    }
  };
  const live = document.querySelector("[data-live]");
  if (live && window.EventSource) {
    // Recover the values of the initial chart from the heights of its points.
    for (const chart of charts) {
      const points = chart.line.getAttribute("points").trim();
      const top = Number(chart.figure.dataset.top) || 1;
      chart.values = points ? points.split(" ").map(point => (58 - Number(point.split(",")[1])) / 56 * top) : [];
    }
    const source = new EventSource(live.dataset.live);
    source.onmessage = event => take(JSON.parse(event.data));
    // The next page shows the result of an action: no reload may come in between.
    for (const end of ["pagehide", "submit"]) addEventListener(end, () => source.close());
  }

  // Parts that are reloaded periodically.
  for (const part of document.querySelectorAll("[data-refresh]")) {
    const reload = async id => {
      let wait = 0;
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
        const old = document.getElementById(id);
        if (!answer.ok || answer.redirected || !fresh || !old) return;
        // Do not replace a part that has the focus.
        if (!old.contains(document.activeElement)) old.replaceWith(document.adoptNode(fresh));
        wait = Number(fresh.dataset.refresh) || 0;
      } catch { wait = 5 }
      if (wait) setTimeout(() => reload(id), wait * 1000);
    };
    setTimeout(() => reload(part.id), Number(part.dataset.refresh) * 1000);
  }

  // Announcements, read out by screen readers.
  const news = document.querySelector("[data-news]");
  const announce = (text, href, label) => {
    const line = document.createElement("p");
    line.className = "said";
    line.append(text);
    if (href) {
      const link = document.createElement("a");
      link.href = href;
      link.textContent = label;
      line.append(" ", link);
    }
    news.replaceChildren(line);
  };

  // Typed text survives a refused action and the end of the session: this tab keeps it until the next page load.
  const place = "pharos-desk-typed " + location.pathname + location.search;
  const forms = [...document.querySelectorAll("main form[method=post]")];
  const fields = forms.flatMap(form => [...form.elements]).filter(field =>
    field.name && field.name !== "sure" && !["hidden", "password", "submit", "button", "file"].includes(field.type));
  const isBox = field => field.type === "checkbox" || field.type === "radio";
  // The new value of a field, or null if it was not changed.
  const typedValue = field => {
    if (isBox(field)) return field.checked === field.defaultChecked ? null : field.checked;
    const chosen = field.options && ([...field.options].find(option => option.defaultSelected) ?? field.options[0])?.value;
    return field.value === (chosen ?? field.defaultValue) ? null : field.value;
  };
  const keepTyped = () => {
    try { sessionStorage.setItem(place, JSON.stringify(fields.map(typedValue))) } catch { /* storage is full or not available */ }
  };
  const restoreTyped = () => {
    let typed = null;
    try {
      typed = JSON.parse(sessionStorage.getItem(place));
      sessionStorage.removeItem(place);
    } catch { /* nothing kept */ }
    if (!Array.isArray(typed) || typed.length !== fields.length || document.querySelector(".said.good")) return;
    let isRestored = false;
    fields.forEach((field, n) => {
      if (field.readOnly || field.disabled || typeof typed[n] !== (isBox(field) ? "boolean" : "string")) return;
      if (isBox(field)) field.checked = typed[n]; else field.value = typed[n];
      isRestored ||= typedValue(field) !== null;
    });
    if (isRestored) announce(news.dataset.restored);
  };
  if (news) {
    restoreTyped();
    for (const form of forms) form.addEventListener("submit", keepTyped);
    const login = "/admin/login?next=" + encodeURIComponent(location.pathname + location.search);
    let lastBuild;
    const check = async () => {
      if (document.visibilityState !== "visible") return;
      try {
        const answer = await fetch(news.dataset.news, { redirect: "manual" });
        if (answer.type === "opaqueredirect") {
          clearInterval(timer);
          keepTyped();
          announce(news.dataset.over, login, news.dataset.logIn);
        } else if (answer.ok) {
          const { last_build: build } = await answer.json();
          if (lastBuild !== undefined && build && build !== lastBuild) {
            announce(build, "/admin/index", news.dataset.index);
            if (new Date().getTimezoneOffset() !== 0) localTimes(news);
          }
          lastBuild = build;
        }
      } catch { /* the server is unreachable: ask again later */ }
    };
    const timer = setInterval(check, 5000);
    check();
    document.addEventListener("visibilitychange", check);
  }

  // Times are written in UTC; people read them in the time zone of their browser.
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const UTC = /(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}), (\d\d):(\d\d) UTC|(\d{4})年(\d{1,2})月(\d{1,2})日 (\d\d):(\d\d) UTC/g;
  function localTimes(part) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("textarea, pre, code, option, .log")) texts.push(walker.currentNode);
    for (const text of texts) {
      const parts = [];
      let end = 0;
      for (const found of text.data.matchAll(UTC)) {
        const [, day, month, year, hour, minute, zhYear, zhMonth, zhDay, zhHour, zhMinute] = found;
        const at = new Date(year ? Date.UTC(year, MONTHS.indexOf(month), day, hour, minute) : Date.UTC(zhYear, zhMonth - 1, zhDay, zhHour, zhMinute));
        const clock = at.toTimeString().slice(0, 5);
        const time = document.createElement("time");
        time.dateTime = at.toISOString();
        time.title = found[0];
        time.textContent = year ? `${at.getDate()} ${MONTHS[at.getMonth()]} ${at.getFullYear()}, ${clock}`
          : `${at.getFullYear()}年${at.getMonth() + 1}月${at.getDate()}日 ${clock}`;
        parts.push(text.data.slice(end, found.index), time);
        end = found.index + found[0].length;
      }
      if (parts.length) text.replaceWith(...parts, text.data.slice(end));
    }
  }
  const desk = document.querySelector(".desk main");
  if (desk && new Date().getTimezoneOffset() !== 0) localTimes(desk);

  // Escape hides the meaning of a term without moving pointer or focus.
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    for (const term of document.querySelectorAll(".term:is(:hover, :focus)")) {
      term.dataset.quiet = "";
      for (const end of ["mouseleave", "blur"]) term.addEventListener(end, () => delete term.dataset.quiet, { once: true });
    }
  });

  // "Select all".
  for (const button of document.querySelectorAll("[data-all]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const boxes = [...button.form.querySelectorAll(`input[type=checkbox][name="${button.dataset.all}"]`)];
      const all = boxes.every(box => box.checked);
      for (const box of boxes) box.checked = !all;
    });
  }
})();
