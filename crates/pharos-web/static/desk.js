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
  };
  const take = sample => {
    const box = document.querySelector("[data-state]");
    // Another state has other texts and buttons.
    if (box && box.dataset.state !== sample.state) { location.reload(); return }
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
