// What a link leads to is unfolded, and the contents say where the reader is. Without this script both are opened by hand.
(() => {
  "use strict";
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    let closed = false;
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      closed ||= !fold.open;
      fold.open = true;
    }
    if (closed) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash && !event.defaultPrevented) unfold();
  });

  const contents = document.querySelector("nav details");
  if (contents) {
    const wide = matchMedia("(min-width: 66rem)");
    const fit = () => { contents.open = wide.matches; };
    wide.addEventListener("change", fit);
    fit();
    const lines = [...contents.querySelectorAll("a")].map((link) => [link, document.getElementById(link.hash.slice(1))]);
    const mark = () => {
      const passed = lines.filter(([, place]) => place.checkVisibility() && place.getBoundingClientRect().top <= innerHeight / 8 + 1);
      for (const [link] of lines) link.removeAttribute("aria-current");
      const [now] = passed.at(-1) ?? lines[0];
      now.setAttribute("aria-current", "location");
      const box = contents.parentElement, at = now.offsetTop - box.offsetTop;
      if (wide.matches) box.scrollTop = at - box.clientHeight / 2;
    };
    // Whatever lies above the upper eighth of the window counts as seen.
    const watch = new IntersectionObserver(mark, { rootMargin: "1000000px 0px -87.5% 0px" });
    for (const [, place] of lines) watch.observe(place);
  }
  unfold();
})();

// A number's derivation as a card beside it. Without this script the same link leads to the appendix.
(() => {
  "use strict";
  if (!("popover" in HTMLElement.prototype)) return;
  const card = document.createElement("div");
  card.className = "card";
  card.popover = "auto";
  card.setAttribute("role", "dialog");
  card.setAttribute("aria-label", "Where this number comes from");
  card.tabIndex = -1;
  document.body.append(card);
  let opener = null;

  const fill = (entry, anchor) => {
    card.replaceChildren(...[...entry.children].map((child) => child.cloneNode(true)));
    card.querySelectorAll(".back").forEach((link) => link.remove());
    const line = document.createElement("p");
    const link = document.createElement("a");
    link.href = "#" + anchor;
    link.textContent = "See it in the appendix";
    line.append(link);
    card.append(line);
  };

  const place = (box) => {
    const width = card.offsetWidth, height = card.offsetHeight;
    const left = Math.max(16, Math.min(box.left, window.innerWidth - width - 16));
    const below = box.bottom + 8;
    const top = below + height < window.innerHeight ? below : Math.max(8, box.top - height - 8);
    card.style.left = left + "px";
    card.style.top = top + "px";
  };

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const number = event.target.closest("a.num");
    if (number) {
      const anchor = number.getAttribute("href").slice(1);
      const entry = document.getElementById(anchor);
      if (!entry) return;
      event.preventDefault();
      opener = number;
      fill(entry, anchor);
      if (!card.matches(":popover-open")) card.showPopover();
      place(number.getBoundingClientRect());
      card.focus();
    } else if (event.target.closest(".card a")) {
      opener = null;
      card.hidePopover();
    }
  });
  card.addEventListener("toggle", (event) => {
    if (event.newState === "closed" && opener && (card.contains(document.activeElement) || document.activeElement === document.body)) opener.focus();
  });
})();
