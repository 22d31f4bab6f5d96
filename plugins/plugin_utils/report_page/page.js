"use strict";
(() => {
  const all = (selector, part = document) => [...part.querySelectorAll(selector)];
  const tools = document.querySelector(".tools");
  const rank = { failed: 0, pending: 1, ready: 2 };
  let found = null;
  const bodies = () => found ??= all(".nodes tbody").map((body) => ({
    body,
    rows: [...body.rows].slice(1).map((row) => ({
      row,
      text: row.textContent.toLowerCase(),
      state: row.dataset.state,
      name: row.querySelector(".node-name").textContent,
      driver: row.querySelector(".driver").textContent,
      lowest: Number(row.dataset.lowest || Infinity),
    })),
  }));
  const orders = {
    name: (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }),
    state: (a, b) => rank[a.state] - rank[b.state],
    driver: (a, b) => a.driver.localeCompare(b.driver, undefined, { numeric: true }),
    figure: (a, b) => a.lowest - b.lowest,
  };

  function filter() {
    const words = document.getElementById("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const state = document.getElementById("state").value;
    const pool = document.getElementById("pool").value;
    let shown = 0;
    for (const { body, rows } of bodies()) {
      let mine = 0;
      for (const entry of rows) {
        const fits = (state === "all" || (entry.state === "ready") === (state === "ready")) && words.every((word) => entry.text.includes(word));
        entry.row.hidden = !fits;
        mine += fits;
      }
      body.hidden = (pool !== "" && body.dataset.pool !== pool) || (!mine && (words.length > 0 || state !== "all"));
      shown += body.hidden ? 0 : mine;
    }
    document.getElementById("shown").value = `${shown} of ${tools.dataset.nodes} nodes shown`;
  }

  function sort() {
    const order = orders[document.getElementById("sort").value];
    for (const { body, rows } of bodies()) {
      rows.sort((a, b) => order(a, b) || orders.name(a, b));
      body.append(...rows.map((entry) => entry.row));
    }
  }

  async function copy(button) {
    const text = document.getElementById(button.dataset.copies).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }

  if (tools) {
    tools.hidden = false;
    for (const id of ["find", "state", "pool"]) document.getElementById(id).addEventListener("input", filter);
    document.getElementById("sort").addEventListener("input", sort);
  }
  for (const button of all("button[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
})();
