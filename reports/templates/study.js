// The fastest variant whose largest error stays within the bound that the reader sets.
const bounds = JSON.parse(document.getElementById('bounds').textContent);
const form = document.getElementById('bound');

function search() {
  const which = form.elements.error.selectedIndex;
  const most = form.elements.most.valueAsNumber;
  const [name, unit] = bounds.errors[which];
  document.getElementById('unit').textContent = unit;
  const chosen = form.elements.case ? form.elements.case.value : bounds.rows[0][0];
  const rows = bounds.rows.filter(row => row[0] === chosen);
  const error = row => row[4 + which];
  const within = rows.filter(row => row[3] && error(row) !== null && error(row) <= most);
  const best = within.reduce((a, b) => (a && a[2] <= b[2] ? a : b), null);
  const found = document.getElementById('found');
  if (Number.isNaN(most)) found.textContent = 'Enter a number.';
  else if (best) {
    found.textContent = `${best[1]}: ${best[2].toPrecision(3)} µs a step, ${name} error at most `
      + `${error(best).toPrecision(3)} ${unit}; ${within.length} of ${rows.length} variants are within the bound.`;
  } else {
    found.textContent = `No fully verified variant has a ${name} error within ${most} ${unit} at every point.`;
  }
}

const begin = () => { form.elements.most.value = bounds.errors[form.elements.error.selectedIndex][2]; };

form.hidden = false;
begin();
form.elements.error.addEventListener('change', () => { begin(); search(); });
form.addEventListener('input', search);
form.addEventListener('submit', event => event.preventDefault());
search();
