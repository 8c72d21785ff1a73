"use strict";
// Sorts the table of hosts by a column; a second click turns the order round.
const table = document.getElementById("hosts");
const heads = Array.from(table.tHead.rows[0].cells);
heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
  const down = head.getAttribute("aria-sort") !== "descending";
  heads.forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = Array.from(table.tBodies[0].rows);
  const key = (row) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
  };
  const compare = (one, other) =>
    typeof one === "number" ? one - other : one.localeCompare(other, undefined, { numeric: true });
  rows.sort((one, other) => (down ? -1 : 1) * compare(key(one), key(other)));
  table.tBodies[0].append(...rows);
}));
