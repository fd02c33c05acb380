// One section is shown at a time: keys, buttons, fingers and the address choose it. Without scripts all of them flow.
const slides = [...document.querySelectorAll('section')];
let current = 0;

function show(number) {
  current = Math.max(0, Math.min(slides.length - 1, number));
  slides.forEach((slide, i) => slide.classList.toggle('shown', i === current));
  document.getElementById('place').textContent = `${current + 1} / ${slides.length}`;
  history.replaceState(null, '', `#${current + 1}`);
}

const turns = {ArrowRight: 1, ArrowDown: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -Infinity, End: Infinity};
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, button, summary, canvas')) return;
  if (event.key === 'f') document.documentElement.requestFullscreen();
  if (!(event.key in turns)) return;
  event.preventDefault();
  show(current + turns[event.key]);
});
document.getElementById('back').addEventListener('click', () => show(current - 1));
document.getElementById('on').addEventListener('click', () => show(current + 1));

let touched = null;
addEventListener('touchstart', event => { touched = event.touches[0]; });
addEventListener('touchend', ({changedTouches: [end]}) => {
  const across = end.clientX - touched.clientX;
  if (Math.abs(across) > 60 && Math.abs(across) > 2 * Math.abs(end.clientY - touched.clientY)) show(current - Math.sign(across));
});

const chosen = () => show(Number(location.hash.slice(1)) - 1 || 0);
addEventListener('hashchange', chosen);
document.body.classList.add('turned');
chosen();
