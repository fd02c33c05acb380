addEventListener('beforeprint', unfold);
addEventListener('afterprint', () => unfolded.forEach(x => { x.open = false; }));

// A link into what is folded unfolds it.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) if (part.tagName === 'DETAILS') part.open = true;
  if (target) target.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();

// The meaning of a word is read where it stands: it goes as soon as the reader goes on.
let opened = 0;
const dismiss = () => document.querySelectorAll('.meaning:popover-open').forEach(x => x.hidePopover());
addEventListener('beforetoggle', () => { opened = scrollY; }, true);
addEventListener('scroll', () => { if (Math.abs(scrollY - opened) > 20) dismiss(); }, {passive: true});
addEventListener('change', dismiss);

// Paper cannot be unfolded. Tables of numbers that a figure shows too are printed where the reader has opened them.
let unfolded = [];
function unfold() {
  unfolded = [...document.querySelectorAll('details:not([open], .numbers)')];
  unfolded.forEach(x => { x.open = true; });
}

// Where there is less room than a chart wants, plots get narrower, then stand below each other.
function fit(spec, room) {
  if (spec.hconcat && spec.hconcat.reduce((sum, part) => sum + taken(part), 0) > room) stack(spec, room);
  if (typeof spec.width === 'number') spec.width = Math.min(spec.width, room);
  for (const key of ['layer', 'hconcat', 'vconcat', 'concat']) (spec[key] || []).forEach(part => fit(part, room));
  if (!spec.spec) return;
  fit(spec.spec, room);
  if (spec.columns) spec.columns = Math.max(1, Math.min(spec.columns, Math.floor((room + 20) / (spec.spec.width + 20))));
}

// Plots side by side, of which only the first names its rows, below each other: then every one does.
function stack(spec, room) {
  const rows = plot => (plot.layer || []).map(part => part.encoding?.y).filter(y => y);
  const [named] = rows(spec.hconcat[0]);
  spec.hconcat.forEach(plot => {
    if (typeof plot.width === 'number') plot.width = room;
    rows(plot).filter(y => y.axis?.labels === false).forEach(y => { y.axis = named.axis; });
  });
  spec.vconcat = spec.hconcat;
  delete spec.hconcat;
}

// A legend that a plot itself places has two columns where there is little room.
function legends(spec) {
  Object.values(spec.encoding || {}).filter(x => x.legend?.columns).forEach(x => { x.legend.columns = 2; });
  (spec.layer || []).forEach(legends);
}

// The width that plots take, without the names beside them.
function taken(spec) {
  const parts = ['layer', 'hconcat', 'vconcat', 'concat'].flatMap(key => spec[key] || []).map(taken);
  return spec.spec ? (spec.columns || 1) * (taken(spec.spec) + 20) - 20 : Math.max(spec.width || 0, ...parts);
}

// Figures over time have a rule at the page's time. It is moved by hand: Vega would lay the figure out anew.
function follow(view, place) {
  clock.listen(time => place.querySelectorAll('.clock_marks line').forEach(rule => {
    rule.setAttribute('transform', `translate(${view.scale('x')(time)},0)`);
    rule.setAttribute('opacity', time > 0 ? 0.7 : 0);
  }));
}

async function save(view, name, kind) {
  const shown = view.background();
  const url = await view.background('white').toImageURL(kind, 2);
  view.background(shown).run();
  Object.assign(document.createElement('a'), {href: url, download: `${name}.${kind}`}).click();
}

// The figure alone, on a sheet of its size: a browser saves what it prints as PDF, with curves and text.
function print_alone(place) {
  const {width, height} = place.querySelector('svg').getBoundingClientRect();
  const sheet = document.createElement('style');
  // A little room, since browsers round.
  const size = [width, height].map(x => `${Math.ceil(x) + 4}px`);
  sheet.textContent = `@page { size: ${size.join(' ')}; margin: 0 }`;
  document.head.append(sheet);
  for (let part = place; part !== document.body; part = part.parentElement) {
    part.classList.add('alone');
    for (const other of part.parentElement.children) if (other !== part) other.classList.add('unprinted');
  }
  addEventListener('afterprint', () => {
    sheet.remove();
    for (const name of ['alone', 'unprinted']) document.querySelectorAll('.' + name).forEach(x => x.classList.remove(name));
  }, {once: true});
  print();
}

// What a click on a name in a legend does, for keyboards, fingers and screen readers too.
function chooser(view) {
  const signal = Object.keys(view.getState().signals).find(name => name.endsWith('_legend'));
  if (!signal) return [];
  const choice = document.createElement('select');
  choice.append(new Option('all', ''), ...view.scale('color').domain().map(name => new Option(name)));
  choice.addEventListener('change', () => view.signal(signal, choice.value || null).runAsync());
  view.addSignalListener(signal, (_, name) => { choice.value = name || ''; });
  const label = document.createElement('label');
  label.append('Highlight ', choice);
  return [label];
}

// How wide a place is, or will be once what folds it is open, which then takes all of its row.
function width_of(place) {
  const fold = place.closest('details.fold:not([open])');
  if (!fold) return place.clientWidth;
  const {paddingLeft, paddingRight} = getComputedStyle(fold);
  return fold.parentElement.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - 2;
}

async function draw(name, spec) {
  const place = document.getElementById('figure-' + name), width = width_of(place);
  const narrow = width < 600;
  const embed = room => {
    fit(spec, room);
    return vegaEmbed(place, spec, {actions: false, renderer: 'svg', ast: true});
  };
  // Vega puts its own words in place of those that the page has.
  const words = place.getAttribute('aria-label');
  const below = columns => { spec.config.legend = {...spec.config.legend, orient: 'bottom', columns}; };
  const beyond = () => place.scrollWidth - width;
  const room = width - (narrow ? 85 : 0);
  if (narrow) {
    below(1);
    legends(spec);
  }
  let {view} = await embed(room);
  // How much names take beside the plots is known only now.
  if (!narrow && beyond() > 0) {
    below(4);
    ({view} = await embed(room));
  }
  if (beyond() > 0) ({view} = await embed(taken(spec) - beyond()));
  Object.entries({role: place.querySelector('select, input') ? 'group' : 'img', 'aria-label': words, 'aria-roledescription': 'figure'}).forEach(x => place.setAttribute(...x));
  follow(view, place);
  // The words say what there is to see; its thousand pieces would be read out one by one.
  place.querySelector('svg').setAttribute('aria-hidden', 'true');
  const buttons = ['svg', 'png'].map(kind => {
    const button = Object.assign(document.createElement('button'), {textContent: `Save as ${kind.toUpperCase()}`});
    button.addEventListener('click', () => save(view, name, kind));
    return button;
  });
  const pdf = Object.assign(document.createElement('button'), {textContent: 'Print, or save as PDF'});
  pdf.addEventListener('click', () => print_alone(place));
  const row = Object.assign(document.createElement('p'), {className: 'downloads'});
  row.append(...chooser(view), ...buttons, pdf);
  const figure = place.closest('figure');
  (figure.querySelector('figcaption details') || figure).append(row);
}

// One after the other, so that the page answers between them.
(async () => {
  for (const [name, spec] of Object.entries(specs)) {
    await draw(name, spec);
    await new Promise(done => setTimeout(done));
  }
})();
