// Tells which results were clicked and how long they were looked at. Without it links tell the click themselves (`ping`).
(() => {
  "use strict";
  const key = "pharos-clicked";
  const links = document.querySelectorAll("a[ping]");
  if (!navigator.sendBeacon) return;
  for (const link of links) {
    const address = link.getAttribute("ping");
    link.removeAttribute("ping");
    const tell = () => {
      navigator.sendBeacon(address);
      try { sessionStorage.setItem(key, JSON.stringify({ address, at: Date.now() })); } catch { /* not allowed to remember */ }
    };
    link.addEventListener("click", tell);
    link.addEventListener("auxclick", (event) => { if (event.button === 1) tell(); });
  }
  // Back from a result: how long was that?
  const back = () => {
    if (document.visibilityState !== "visible") return;
    let clicked = null;
    try {
      clicked = JSON.parse(sessionStorage.getItem(key));
      sessionStorage.removeItem(key);
    } catch { /* nothing remembered */ }
    if (!clicked || typeof clicked.address !== "string" || !clicked.address.startsWith("/api/v1/click?")) return;
    const leave = new URLSearchParams(clicked.address.slice("/api/v1/click?".length));
    if (!["result", "snapshot"].includes(leave.get("kind"))) return;
    leave.set("kind", "leave");
    leave.set("dwell", String(Math.max(0, Date.now() - clicked.at)));
    navigator.sendBeacon(`/api/v1/click?${leave}`);
  };
  document.addEventListener("visibilitychange", back);
  window.addEventListener("pageshow", back);
})();
