"use strict";
(() => {
  const form = document.getElementById("filters");
  const text = document.getElementById("filter-text");
  const selects = [...form.querySelectorAll("select")];
  const count = document.getElementById("count");
  const cards = [...document.querySelectorAll("#scenarios > li")].map((card) => ({
    card, facets: JSON.parse(card.dataset.facets), words: card.textContent.toLowerCase(),
  }));
  const show = () => {
    const sought = text.value.trim().toLowerCase();
    let shown = 0;
    for (const { card, facets, words } of cards) {
      const fits = selects.every((each) => !each.value || facets[each.dataset.facet].includes(each.value));
      card.hidden = !(fits && words.includes(sought));
      shown += card.hidden ? 0 : 1;
    }
    count.textContent = shown === cards.length ? `${shown} scenarios` : `${shown} of ${cards.length} scenarios`;
  };
  const remember = () => {
    const chosen = [["text", text.value], ...selects.map((each) => [each.dataset.facet, each.value])];
    history.replaceState(null, "", `#${new URLSearchParams(chosen.filter(([, value]) => value))}`);
    show();
  };
  const restore = () => {
    const chosen = new URLSearchParams(location.hash.slice(1));
    text.value = chosen.get("text") ?? "";
    for (const each of selects) {
      const value = chosen.get(each.dataset.facet) ?? "";
      each.value = [...each.options].some((option) => option.value === value) ? value : "";
    }
    show();
  };
  form.addEventListener("input", remember);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(remember));
  addEventListener("hashchange", restore);
  form.hidden = false;
  restore();
})();
