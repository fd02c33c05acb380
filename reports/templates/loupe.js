// The step under the loupe: moves what the page shows of one moment to another one. Its words are those of loupe.py.
const loupe = document.getElementById('loupe');
if (loupe) {
  const RADIUS = 105, LIMIT = 1.62, ALIKE = 3, DOT = 4, RING = 3.5, SLIP = 0.8, FAST = 1.8, LANE = 18;
  const [BEYOND, OFF, LIFTS, ROUND_OFF, OPEN, SLIDES, WIDTH] = [0.01, 1, 0.01, 1e-6, 0, 1, 10];
  const STATES = ['open', 'slides', 'sticks'];
  const all = JSON.parse(loupe.dataset.moments);
  const values = new Float32Array(Uint8Array.from(atob(all.values), x => x.charCodeAt(0)).buffer);
  const find = name => loupe.querySelector(name), findAll = name => [...loupe.querySelectorAll(name)];
  const time = find('[name=time]'), contact = find('[name=contact]'), unit = find('[name=unit]');
  let [k, i] = all.at;

  const of = run => {
    const start = ((run * all.t.length + k) * all.contacts.length + i) * WIDTH;
    const [state, p_n, x, y, u_n, u, v, mu, axis, slid] = values.subarray(start, start + WIDTH);
    const friction = Math.hypot(x, y), speed = Math.hypot(u, v), limit = mu * p_n;
    const rubs = state === SLIDES && friction > BEYOND * limit && speed > 0;
    const turned = Math.min(1, Math.max(-1, -(x * u + y * v) / (friction * speed)));
    return {
      state, p_n, x, y, u_n, u, v, axis, slid, speed, limit, slack: Math.abs(limit - friction) > ROUND_OFF * limit ? limit - friction : 0, closed: state > OPEN && limit > 0,
      share: limit > 0 ? friction / limit : NaN, angle: rubs ? Math.acos(turned) * 180 / Math.PI : NaN,
    };
  };

  const number = x => {
    if (!Number.isFinite(x)) return '–';
    if (Math.abs(x) < 1e-12) return '0';
    if (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) return x.toExponential(1);
    return String(Number(Number(x.toPrecision(3)).toFixed(6)));
  };
  const does = x => x.state === OPEN ? 'is open' : STATES[x.state];
  const whole = x => x.toFixed(0);

  function faults(x, exact) {
    if (Number.isNaN(x.state)) return [['', 'has no answer']];
    const found = [];
    if (x.state !== exact.state) found.push(['', `${does(x)} where exact friction ${does(exact)}`]);
    if (x.state === OPEN) return found;
    if (x.share > 10) found.push(['t', `pushes ${whole(x.share)} times as much as the disc allows`]);
    else if (x.share > 1 + BEYOND) found.push(['t', `pushes ${whole(100 * (x.share - 1))} % more than the disc allows`]);
    else if (x.state === SLIDES && x.share < BEYOND) found.push(['t', 'slides without friction']);
    else if (x.state === SLIDES && x.share < 1 - BEYOND) found.push(['t', `slides with ${whole(100 * x.share)} % of the disc's friction`]);
    if (x.angle > OFF) found.push(['', `pushes ${whole(x.angle)}° off the direction against sliding`]);
    if (Math.abs(x.u_n) > LIFTS * Math.max(x.speed, exact.speed))
      found.push(['n', `${x.u_n > 0 ? 'leaves' : 'sinks in'} at ${number(Math.abs(x.u_n))} m/s while it presses`]);
    return found;
  }

  function lead(exact) {
    const when = all.time ? `At ${number(all.t[k])} s, contact` : 'Contact';
    const speed = exact.state === SLIDES ? ` at ${number(exact.speed)} m/s` : '';
    const presses = exact.state !== OPEN ? ` and presses with ${number(exact.p_n / all.h[0])}${all.force && ` ${all.force}`}` : '';
    return `${when} ${all.contacts[i]} ${does(exact)}${speed} under exact Coulomb friction${presses}.`;
  }

  function cells(x, exact, h) {
    if (Number.isNaN(x.state)) return [['no answer', true], ...Array(6).fill(['–', false])];
    const broken = new Set(faults(x, exact).map(fault => fault[0])), n = broken.has('n'), t = broken.has('t');
    const bears = x.state !== OPEN, u_n = Math.abs(x.u_n) > ROUND_OFF * x.speed ? x.u_n : 0;
    return [
      [STATES[x.state], x.state !== exact.state], [number(bears ? x.p_n / h : 0), n], [number(u_n), n],
      [number(bears ? x.slack / h : 0), t], [number(x.speed), t], [number(bears ? x.share : NaN), t],
      [number(x.angle < 0.01 ? 0 : x.angle), x.angle > OFF],
    ];
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
        transform: `rotate(${-x.axis * 180 / Math.PI}) scale(${x.closed ? size : 1})`,
      });
    const length = SLIP * RADIUS * Math.min(x.speed / unit, FAST), arrow = group.querySelector('.slip');
    put(arrow, {display: seen(length >= 1), transform: `translate(0 ${y}) rotate(${-Math.atan2(x.v, x.u) * 180 / Math.PI})`});
    arrow.querySelector('line').setAttribute('x2', length);
    arrow.querySelector('.tip').setAttribute('transform', `translate(${length} 0)`);
    const point = group.querySelector('.point');
    put(point, {display: seen(x.closed)});
    if (!x.closed) return;
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
    const bounds = [...chosen].map(run => runs[run]).map((x, n) => x.closed ? x.limit / all.h[[...chosen][n]] : 0);
    const widest = bounds[0] || Math.max(...bounds) || 1, absolute = unit.selectedIndex === 1;
    const speeds = [...chosen].map(run => runs[run].speed).filter(Number.isFinite);
    const pace = exact.state === SLIDES ? exact.speed : Math.max(0, ...speeds) || 1;
    const drawn = [], same = new Map();
    runs.forEach((x, run) => {
      const on = chosen.has(run), row = find(`tbody [data-run="${run}"]`);
      put(find(`svg.marks [data-run="${run}"]`), {display: seen(on)});
      row.hidden = !on;
      if (!on) return;
      move(run, x, absolute ? x.limit / all.h[run] / widest : 1, pace, drawn);
      cells(x, exact, all.h[run]).forEach(([text, broken], n) => {
        row.cells[n + 1].textContent = text;
        row.cells[n + 1].classList.toggle('no', broken);
      });
      const words = faults(x, exact).map(fault => fault[1]).join(', ') || 'as Coulomb\'s law asks';
      if (run) same.set(words, [...(same.get(words) || []), all.labels[run]]);
    });
    find('.lead-words').textContent = lead(exact);
    find('.words').replaceChildren(...[...same].map(([words, labels]) => {
      const item = document.createElement('li'), names = document.createElement('b');
      names.textContent = labels.join(', ');
      item.append(names, `: ${words}.`);
      return item;
    }));
    find('.scale').textContent = absolute ? `The circle's radius is ${number(widest)} ${all.force || 'in the unit of the file'}.` : '';
    if (!time) return;
    time.value = k;
    time.setAttribute('aria-valuetext', `${number(all.t[k])} s`);
    find('output').textContent = `${number(all.t[k])} s`;
  }

  find('.controls').hidden = find('fieldset').hidden = false;
  loupe.addEventListener('input', event => {
    i = contact.selectedIndex;
    if (event.target !== time) return show();
    k = Number(time.value);
    clock.set(all.t[k]);
  });
  // Until somebody chooses a time, the most telling moment is shown.
  let begun = false;
  clock.listen(now => {
    if (begun && all.time) k = all.t.reduce((best, t, n) => Math.abs(t - now) < Math.abs(all.t[best] - now) ? n : best, 0);
    begun = true;
    show();
  });
}
