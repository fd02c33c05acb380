// The fastest variant whose largest error stays within the bound that the reader sets.
const bounds = JSON.parse(document.getElementById('bounds').textContent);
const form = document.getElementById('bound');

function search() {
  const which = form.elements.error.selectedIndex;
  const most = form.elements.most.valueAsNumber;
  const [name, unit] = bounds.errors[which];
  const within = bounds.rows.filter(row => row[2] && row[3 + which] !== null && row[3 + which] <= most);
  const best = within.reduce((a, b) => (a && a[1] <= b[1] ? a : b), null);
  document.getElementById('found').textContent = best
    ? `${best[0]}: ${best[1].toPrecision(3)} ms a run, ${name} error at most ${best[3 + which].toPrecision(3)} ${unit}; `
      + `${within.length} of ${bounds.rows.length} variants are within the bound.`
    : `No variant of this study that is verified throughout has a ${name} error of at most ${most} ${unit} at every point.`;
}

form.hidden = false;
form.addEventListener('input', search);
form.addEventListener('submit', event => event.preventDefault());
search();
