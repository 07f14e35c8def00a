// Tooltips of charts: the row of the data table below the pointer, or chosen with the arrow keys.

for (const chart of document.querySelectorAll("[data-chart]")) {
  const table = chart.nextElementSibling?.querySelector("table");
  const rows = [...(table?.tBodies[0]?.rows ?? [])];
  if (!rows.length) {
    continue;
  }
  const plot = chart.querySelector(".ca-chart__plot");
  const cross = chart.querySelector(".ca-chart__cross");
  const { width, height } = plot.viewBox.baseVal;
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const tip = document.createElement("div");
  tip.className = "ca-tip";
  tip.hidden = true;
  chart.append(tip);
  chart.tabIndex = 0;
  let current = -1;

  const hide = () => {
    tip.hidden = true;
    cross.setAttribute("d", "");
    current = -1;
  };

  const show = (index) => {
    if (index === current) {
      return;
    }
    current = index;
    const [name, ...values] = rows[index].cells;
    const title = document.createElement("b");
    title.textContent = name.textContent;
    const list = document.createElement("ul");
    list.className = "ca-legend";
    heads.forEach((head, place) => {
      const item = document.createElement("li");
      const value = document.createElement("b");
      item.className = head.dataset.color;
      value.textContent = values[place].textContent;
      item.append(`${head.textContent} `, value);
      list.append(item);
    });
    tip.replaceChildren(title, list);
    tip.hidden = false;
    const share = (index + 0.5) / rows.length;
    cross.setAttribute("d", `M${share * width} 0V${height}`);
    const box = plot.getBoundingClientRect();
    const at = box.left - chart.getBoundingClientRect().left + share * box.width;
    const isLeft = share > 0.5;
    tip.style.left = `${isLeft ? at - tip.offsetWidth - 8 : at + 8}px`;
    tip.style.top = "0.5rem";
  };

  chart.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    show(Math.min(rows.length - 1, Math.max(0, Math.floor(share * rows.length))));
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") {
      hide();
    } else if (step) {
      event.preventDefault();
      const from = current < 0 && step < 0 ? rows.length : current;
      show(Math.min(rows.length - 1, Math.max(0, from + step)));
    }
  });
}
