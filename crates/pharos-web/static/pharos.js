// Enhancements of pages that work without scripts: suggestions, shortcuts, and click reporting.
(() => {
  "use strict";
  const $ = (css, of = document) => of.querySelector(css);
  const $$ = (css, of = document) => [...of.querySelectorAll(css)];
  const box = $(".box input[name=q]");

  // Suggestions: a list box below the search box (WAI-ARIA combobox pattern).
  if (box) {
    const form = box.form;
    const list = document.createElement("ul");
    list.id = "suggestions";
    list.className = "suggestions";
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", box.getAttribute("aria-label"));
    form.append(list);
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]]) {
      box.setAttribute(name, value);
    }
    let typed = box.value; // Typed text, while the box shows a suggestion.
    let at = -1;
    let pending = null;
    let timer = 0;
    const cache = new Map();

    const close = () => {
      clearTimeout(timer);
      pending?.abort();
      list.hidden = true;
      at = -1;
      box.setAttribute("aria-expanded", "false");
      box.removeAttribute("aria-activedescendant");
    };
    const choose = (place) => {
      const options = $$("li", list);
      at = place;
      options.forEach((option, n) => option.setAttribute("aria-selected", String(n === at)));
      if (at < 0) box.removeAttribute("aria-activedescendant");
      else box.setAttribute("aria-activedescendant", options[at].id);
      box.value = at < 0 ? typed : options[at].textContent;
    };
    const submit = (text) => {
      box.value = text;
      const from = document.createElement("input");
      from.type = "hidden";
      from.name = "from";
      from.value = "suggested";
      form.append(from);
      close();
      form.requestSubmit();
      // Without the field if the user returns to the page.
      setTimeout(() => from.remove());
    };
    // A suggestion as nodes, with the typed text marked. Pinyin is part of no suggestion.
    const withTypedPart = (text) => {
      const [lower, part] = [text.toLowerCase(), typed.trim().toLowerCase()];
      const start = lower.length === text.length && part ? lower.indexOf(part) : -1;
      if (start < 0) return [text];
      const mark = document.createElement("mark");
      mark.textContent = text.slice(start, start + part.length);
      return [text.slice(0, start), mark, text.slice(start + part.length)];
    };
    const show = (texts) => {
      list.replaceChildren(...texts.map((text, n) => {
        const option = document.createElement("li");
        option.id = `suggestion-${n}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.append(...withTypedPart(text));
        return option;
      }));
      at = -1;
      box.removeAttribute("aria-activedescendant");
      list.hidden = texts.length === 0;
      box.setAttribute("aria-expanded", String(!list.hidden));
    };
    const fetchSuggestions = async () => {
      pending?.abort();
      const text = typed;
      if (!text.trim()) return close();
      if (!cache.has(text)) {
        pending = new AbortController();
        try {
          const answer = await fetch(`/suggest?q=${encodeURIComponent(text)}`, { signal: pending.signal });
          if (!answer.ok) return;
          const [, texts] = await answer.json();
          if (cache.size > 200) cache.clear();
          if (texts.length) cache.set(text, texts.slice(0, 8));
        } catch { return; /* aborted by further input, or the server is unreachable */ }
      }
      if (text === typed && document.activeElement === box) show(cache.get(text) ?? []);
    };
    box.addEventListener("input", (event) => {
      typed = box.value;
      clearTimeout(timer);
      // Pinyin input during composition is sent, too: suggestions match both.
      timer = setTimeout(fetchSuggestions, event.isComposing ? 150 : 60);
    });
    box.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const count = list.children.length;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        if (list.hidden) { typed = box.value; fetchSuggestions(); event.preventDefault(); return; }
        const step = event.key === "ArrowDown" ? 1 : -1;
        // One position more than there are suggestions: the typed text.
        choose((at + 1 + step + count + 1) % (count + 1) - 1);
        event.preventDefault();
      } else if (event.key === "Enter" && !list.hidden && at >= 0) {
        event.preventDefault();
        submit(box.value);
      } else if (event.key === "Escape" && !list.hidden) {
        box.value = typed;
        close();
        event.preventDefault();
      } else if (event.key === "Tab") close();
    });
    box.addEventListener("blur", close);
    form.addEventListener("submit", close);
    // Runs before the box loses the focus.
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = event.target.closest("li");
      if (option && event.button === 0) submit(option.textContent);
    });
    window.addEventListener("pageshow", close);
  }

  // Keyboard shortcuts, as in other search engines. /help lists them and turns them off.
  const results = $$(".hits > li");
  let here = -1;
  const visit = (place) => {
    if (!results.length) return;
    here = Math.max(0, Math.min(results.length - 1, place));
    results.forEach((result, n) => result.classList.toggle("here", n === here));
    const link = $("h2 a", results[here]);
    link?.focus({ preventScroll: true });
    results[here].scrollIntoView({ block: "nearest" });
  };
  const follow = (css) => $(css)?.click();
  const help = async () => {
    const open = $("dialog.keys");
    if (open) return open.close();
    try {
      const reply = await fetch("/help");
      if (!reply.ok) throw reply.status;
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const dialog = document.createElement("dialog");
      dialog.className = "keys";
      dialog.setAttribute("aria-labelledby", "keys-title");
      dialog.append($("#keys", page));
      dialog.addEventListener("close", () => dialog.remove());
      dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
      document.body.append(dialog);
      dialog.showModal();
    } catch { location.href = "/help#keys"; }
  };
  const keys = {
    "/": () => { box?.focus(); box?.select(); },
    j: () => visit(here + 1),
    k: () => visit(here - 1),
    o: () => { if (here >= 0) $("h2 a", results[here])?.click(); },
    n: () => follow(".paging [rel=next]"),
    p: () => follow(".paging [rel=prev]"),
    "?": help,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const writing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key === "Escape" && writing === box) box?.blur();
    if (writing || document.body.dataset.keys === "off") return;
    const action = keys[event.key];
    // A key that is held down moves through the results, but acts once.
    if (event.repeat && !"jk".includes(event.key)) return;
    if (!action || ($("dialog[open]") && event.key !== "?")) return;
    event.preventDefault();
    action();
  });

  // Filters: menus that close on a click elsewhere; on wide screens, open lists beside the results.
  const isWide = matchMedia("(min-width: 80rem)");
  const arrangeFilters = () => {
    for (const menu of $$(".filters details")) {
      // Of the menus with the same name, only one can be open.
      if (isWide.matches) menu.removeAttribute("name");
      else menu.setAttribute("name", "filter");
      menu.open = isWide.matches;
    }
  };
  isWide.addEventListener("change", arrangeFilters);
  if (isWide.matches) arrangeFilters();
  document.addEventListener("click", (event) => {
    if (isWide.matches) return;
    for (const menu of $$(".filters details[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const menu = !isWide.matches && event.key === "Escape" && event.target.closest?.(".filters details[open]");
    if (menu) { menu.open = false; $("summary", menu).focus(); }
  });

  // Click reporting by beacons with the id of the impression.
  const storageKey = "pharos-clicked";
  const report = (params) => navigator.sendBeacon?.(`/api/v1/click?${new URLSearchParams(params)}`);
  const place = (link) => {
    const impression = link.closest("[data-impression]")?.dataset.impression;
    if (!impression) return null;
    const result = link.closest(".hits > li");
    if (result) {
      const kind = link.closest("h2") ? "result" : link.pathname.startsWith("/snapshot/") ? "snapshot" : null;
      return kind && { impression, kind, rank: Number(result.parentElement.dataset.first) + results.indexOf(result) };
    }
    const offer = link.closest(".related li");
    if (offer) return { impression, kind: "related", rank: $$(".related li").indexOf(offer) + 1 };
    return { impression, kind: "corrected", rank: 1 };
  };
  const clicked = (event) => {
    const link = event.target.closest?.("a");
    const click = link && (event.type === "click" || event.button === 1) && place(link);
    if (!click) return;
    report(click);
    try { sessionStorage.setItem(storageKey, JSON.stringify({ click, at: Date.now() })); } catch { /* storage is not available */ }
  };
  document.addEventListener("click", clicked);
  document.addEventListener("auxclick", clicked);
  const shown = $("[data-impression]")?.dataset.impression;
  if (shown) report({ impression: shown, kind: "seen", rank: 0 });
  // On return from a result, report the dwell time.
  const back = () => {
    if (document.visibilityState !== "visible") return;
    let last = null;
    try {
      last = JSON.parse(sessionStorage.getItem(storageKey));
      sessionStorage.removeItem(storageKey);
    } catch { /* nothing stored */ }
    if (!["result", "snapshot"].includes(last?.click?.kind)) return;
    report({ ...last.click, kind: "leave", dwell: Math.max(0, Date.now() - last.at) });
  };
  document.addEventListener("visibilitychange", back);
  window.addEventListener("pageshow", back);
})();
