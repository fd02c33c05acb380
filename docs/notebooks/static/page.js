// A slider chooses among what the page holds: each part shows itself at the positions of the sliders that it follows.
const at = {};
function follow() {
  for (const part of document.querySelectorAll('[data-sliders]')) {
    const here = part.dataset.sliders.split(' ').map(name => at[name]).join(' ');
    for (const variant of part.children) variant.hidden = variant.dataset.at !== here;
  }
}
for (const input of document.querySelectorAll('input[type=range]')) {
  const values = input.dataset.values.split(' ');
  const place = () => {
    at[input.name] = input.value;
    input.nextElementSibling.textContent = values[input.value];
    input.setAttribute('aria-valuetext', values[input.value]);
  };
  place();
  input.addEventListener('input', () => { place(); follow(); });
}
follow();
