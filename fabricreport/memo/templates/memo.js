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
