// The step under the loupe: moves what the page shows of one moment to another one. Its words are those of loupe.py.
const loupe = document.getElementById('loupe');
if (loupe) {
  const RADIUS = 105, LIMIT = 1.62, ALIKE = 3, DOT = 4, RING = 3.5, SLIP = 0.8, FAST = 1.8, LANE = 18;
  const [BEYOND, OFF, LIFTS, FEW, SEEN, OPEN, SLIDES, WIDTH, FREE] = [0.01, 1, 0.01, 10, 1e-6, 0, 1, 14, 'n/u'];
  const STATES = ['open', 'slides', 'sticks'];
  const all = JSON.parse(loupe.dataset.moments);
  const values = new Float32Array(Uint8Array.from(atob(all.values), x => x.charCodeAt(0)).buffer);
  const find = name => loupe.querySelector(name), findAll = name => [...loupe.querySelectorAll(name)];
  const time = find('[name=time]'), contact = find('[name=contact]'), unit = find('[name=unit]');
  let [k, i] = all.at;

  const of = (run, place = i) => {
    const start = ((run * all.t.length + k) * all.contacts.length + place) * WIDTH;
    const [state, p_n, x, y, slack, u, v, mu, axis, slid, gap, least_p, least_u, determined] = values.subarray(start, start + WIDTH);
    const friction = Math.hypot(x, y), speed = Math.hypot(u, v), limit = mu * p_n, bears = limit > 0 && p_n > least_p;
    const rubs = state === SLIDES && bears && friction > BEYOND * limit && speed > 0;
    const along = Math.min(1, Math.max(-1, -(x * u + y * v) / (friction * speed)));
    return {
      state, p_n, x, y, slack, u, v, axis, slid, gap, least_p, least_u, determined, friction, speed, limit, bears,
      share: bears ? friction / limit : NaN, angle: rubs ? Math.acos(along) * 180 / Math.PI : NaN,
    };
  };

  const number = x => {
    if (!Number.isFinite(x)) return '–';
    if (Math.abs(x) < 1e-12) return '0';
    if (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) return x.toExponential(1);
    return String(Number(Number(x.toPrecision(3)).toFixed(6)));
  };
  const does = x => x.state === OPEN ? 'is open' : Number.isNaN(x.state) ? 'has no answer' : STATES[x.state];
  const whole = x => x.toFixed(0);
  const known = (x, exact) => Boolean(x.determined && exact.determined);
  const slack = x => (Number.isNaN(x.gap) ? 'u_n = ' : 'u_n + φ/h = ') + number(x.slack) + (Number.isNaN(x.gap) ? '' : ' m/s') + (Math.abs(x.gap) > SEEN ? ` at a gap of ${number(1e3 * x.gap)} mm` : '');

  function faults(x, exact) {
    if (Number.isNaN(x.state)) return [['', 'has no answer']];
    const found = [], few = FEW * x.least_p, fast = Math.max(x.least_u, LIFTS * Math.max(x.speed, exact.speed || 0));
    if (x.state !== exact.state) found.push(['', `${does(x)} where the reference ${does(exact)}`]);
    if (!x.bears) {
      if (x.friction > few) found.push(['t', 'has friction without a normal force']);
    } else if (x.slack > fast && x.p_n > few) found.push(['n', `presses while separating, ${slack(x)}`]);
    if (x.state !== OPEN && x.slack < -fast) found.push(['n', `violates the normal law, ${slack(x)}`]);
    return found.concat(x.bears && known(x, exact) ? ofFriction(x, few) : []);
  }

  function ofFriction(x, few) {
    const found = [];
    if (x.share > 10 && x.friction - x.limit > few) found.push(['t', `friction is ${whole(x.share)} times μ pₙ`]);
    else if (x.share > 1 + BEYOND && x.friction - x.limit > few) found.push(['t', `friction is ${whole(100 * (x.share - 1))} % above μ pₙ`]);
    else if (x.state === SLIDES && x.share < 1 - BEYOND && x.limit - x.friction > few)
      found.push(['t', x.share < BEYOND ? 'slides without friction' : `friction is ${whole(100 * x.share)} % of μ pₙ`]);
    if (x.angle > OFF && 2 * Math.sin(x.angle * Math.PI / 360) * x.friction > few) found.push(['angle', `friction deviates by ${whole(x.angle)}° from the direction opposite to sliding`]);
    return found;
  }

  function inWords(x, exact) {
    const words = faults(x, exact).map(fault => fault[1]);
    if (x.bears && !known(x, exact)) words.push('the motion does not determine its friction');
    return words.join(', ') || 'Coulomb\'s law holds';
  }

  const now = () => `${all.t[k].toFixed(all.decimals)} s`;
  function lead(exact) {
    const unit = Number.isNaN(exact.gap) ? ['', ''] : [' m/s', ' N'];
    const speed = exact.state === SLIDES ? ` at ${number(exact.speed)}${unit[0]}` : '';
    const force = exact.p_n > exact.least_p ? `a normal ${all.time ? 'force' : 'impulse'} of ${number(exact.p_n / all.h[0])}${unit[1]}` : 'no normal force';
    const presses = exact.state > OPEN ? `, with ${force}` : '';
    return `${all.time ? `At ${now()}, contact` : 'Contact'} ${all.contacts[i]} ${does(exact)}${speed} under Coulomb's law${presses}.`;
  }

  function cells(x, exact, h) {
    if (Number.isNaN(x.state)) return [['no answer', true], ...Array(7).fill(['–', false])];
    const broken = new Set(faults(x, exact).map(fault => fault[0])), n = broken.has('n'), t = broken.has('t');
    const certain = !x.bears || known(x, exact), left = x.limit - x.friction;
    return [
      [STATES[x.state], x.state !== exact.state], [number(Math.abs(x.gap) <= SEEN ? 0 : 1e3 * x.gap), false],
      [number(x.p_n > x.least_p ? x.p_n / h : 0), n], [number(Math.abs(x.slack) > x.least_u ? x.slack : 0), n],
      [certain ? number(Math.abs(left) > Math.max(FEW * x.least_p, 1e-6 * x.limit) ? left / h : 0) : FREE, t],
      [number(x.speed > x.least_u ? x.speed : 0), t],
      [certain ? number(x.share) : FREE, t && x.bears], [certain ? number(x.angle < 0.01 ? 0 : x.angle) : FREE, broken.has('angle')],
    ];
  }

  // What all contacts do at the time, and where it is something else than in the reference.
  function tellModes(run, on) {
    const row = find(`.modes tbody [data-run="${run}"]`);
    if (!row) return;
    row.hidden = !on;
    all.contacts.forEach((_, place) => {
      const [x, exact] = [of(run, place).state, of(0, place).state], cell = row.cells[place + 1];
      cell.textContent = Number.isNaN(x) ? '–' : STATES[x];
      cell.classList.toggle('no', x !== exact && !Number.isNaN(x + exact));
    });
  }

  const put = (element, attributes) => Object.entries(attributes).forEach(([name, value]) =>
    value === null ? element.removeAttribute(name) : element.setAttribute(name, value));
  const seen = on => on ? null : 'none';

  function move(run, x, size, unit, drawn) {
    const group = find(`svg.marks [data-run="${run}"]`), y = all.d === 2 ? 0 : LANE * run;
    const stick = group.querySelector('.stick'), slide = group.querySelector('.slide');
    for (const [section, on] of [[stick, !slide || !x.slid], [slide, x.slid]])
      if (section) put(section, {
        display: seen(on && Number.isFinite(x.axis)),
        transform: `rotate(${-x.axis * 180 / Math.PI}) scale(${x.bears ? size : 1})`,
      });
    const length = SLIP * RADIUS * Math.min(x.speed / unit, FAST), arrow = group.querySelector('.slip');
    put(arrow, {display: seen(length >= 1), transform: `translate(0 ${y}) rotate(${-Math.atan2(x.v, x.u) * 180 / Math.PI})`});
    arrow.querySelector('line').setAttribute('x2', length);
    arrow.querySelector('.tip').setAttribute('transform', `translate(${length} 0)`);
    const point = group.querySelector('.point');
    put(point, {display: seen(x.bears)});
    if (!x.bears) return;
    const p = [size * x.x / x.limit, size * x.y / x.limit], far = Math.max(...p.map(Math.abs)), beyond = far > LIMIT;
    const at = p.map((c, axis) => (axis ? -1 : 1) * RADIUS * c * (beyond ? LIMIT / far : 1));
    const around = all.d === 2 ? drawn.filter(q => Math.hypot(at[0] - q[0], at[1] - q[1]) < ALIKE).length : 0;
    if (run) drawn.push(at);
    const r = DOT + RING * around;
    put(point, {
      transform: `translate(${at[0]} ${at[1] + y})`, fill: around ? 'none' : null,
      d: !run ? 'M-9,0H9M0,-9V9' : beyond ? 'M0,-6l6,10h-12z' : `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    });
  }

  function show() {
    const chosen = new Set([0, ...findAll('fieldset input:checked').map(box => Number(box.value))]);
    const runs = all.labels.map((label, run) => of(run)), exact = runs[0];
    const bounds = [...chosen].map(run => runs[run]).map((x, n) => x.bears ? x.limit / all.h[[...chosen][n]] : 0);
    const widest = bounds[0] || Math.max(...bounds) || 1, absolute = unit.selectedIndex === 1;
    const speeds = [...chosen].map(run => runs[run].speed).filter(Number.isFinite);
    const pace = exact.state === SLIDES ? exact.speed : Math.max(0, ...speeds) || 1;
    const drawn = [], same = new Map();
    runs.forEach((x, run) => {
      const on = chosen.has(run), row = find(`.pairs tbody [data-run="${run}"]`);
      put(find(`svg.marks [data-run="${run}"]`), {display: seen(on)});
      row.hidden = !on;
      tellModes(run, on);
      if (!on) return;
      move(run, x, absolute ? x.limit / all.h[run] / widest : 1, pace, drawn);
      cells(x, exact, all.h[run]).forEach(([text, broken], n) => {
        row.cells[n + 1].textContent = text;
        row.cells[n + 1].classList.toggle('no', broken);
      });
      const words = inWords(x, exact);
      if (run) same.set(words, [...(same.get(words) || []), all.labels[run]]);
    });
    find('.lead-words').textContent = lead(exact);
    find('.words').replaceChildren(...[...same].map(([words, labels]) => {
      const item = document.createElement('li'), names = document.createElement('b');
      names.textContent = labels.join(', ');
      item.append(names, `: ${words}.`);
      return item;
    }));
    find('.scale').textContent = absolute ? `The circle's radius is ${number(widest)} ${all.time ? 'N' : 'in the unit of the file'}.` : '';
    if (!time) return;
    time.value = k;
    time.setAttribute('aria-valuetext', now());
    find('output').textContent = now();
  }

  find('.controls').hidden = find('fieldset').hidden = false;
  loupe.addEventListener('input', event => {
    i = contact.selectedIndex;
    if (event.target !== time) return show();
    k = Number(time.value);
    clock.set(all.t[k]);
  });
  // It opens at its most telling moment, in all parts of the page.
  const telling = k, fold = loupe.closest('details');
  const begin = () => all.time && clock.suggest(all.t[telling]);
  if (fold && !fold.open) fold.addEventListener('toggle', begin, {once: true});
  else begin();
  clock.listen(now => {
    if (all.time) k = all.t.reduce((best, t, n) => Math.abs(t - now) < Math.abs(all.t[best] - now) ? n : best, 0);
    show();
  });
}
