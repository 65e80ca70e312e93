// The desk works without any of this.
"use strict";

// On narrow screens the list of pages is a strip: the page that one is on comes into sight.
{
  const strip = document.querySelector(".desk-nav ul");
  const current = strip?.querySelector("[aria-current]");
  if (current && strip.scrollWidth > strip.clientWidth) {
    strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
  }
}
