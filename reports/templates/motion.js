// The motion of a case: formulations laid over the reference or side by side, at the page's time.
(() => {
  const stage = document.getElementById('motion'), canvas = stage.querySelector('canvas');
  const draws = painter(canvas);
  if (!draws) return;
  const one = name => stage.querySelector(`[name=${name}]`), words = stage.querySelector('.words');
  const MOST_PIXELS = 2, STEADY = matchMedia('(prefers-reduced-motion: reduce)'), DARK = matchMedia('(prefers-color-scheme: dark)');
  const K = motion.moments, LAST = motion.end, SHAFT = 2.6, SHORT = 8;
  const AROUND = [-3, -2, -1, 0, 1, 2, 3].flatMap(x => [-3, -2, -1, 0, 1, 2, 3].map(y => [x, y])).sort((a, b) => Math.hypot(...a) - Math.hypot(...b));

  // Arrays come as bytes: floats, or 16-bit integers times a scale; of what does not change there is one row only.
  function numbers({bytes, scale, row}) {
    const raw = Uint8Array.from(atob(bytes), c => c.charCodeAt(0)).buffer;
    const all = scale ? Float32Array.from(new Int16Array(raw), x => x === -32768 ? NaN : x * scale) : new Float32Array(raw);
    return k => row >= all.length ? all : all.subarray(row * k, row * (k + 1));
  }
  const whole = bytes => new Uint32Array(Uint8Array.from(atob(bytes), c => c.charCodeAt(0)).buffer);
  const solid = ({vertices, triangles}) => mesh(numbers(vertices)(0), whole(triangles));
  // Grains are balls, all drawn at once; other bodies are surfaces, one after the other.
  const radii = motion.radii && numbers(motion.radii)(0), bodies = radii ? [...radii].map(r => ({reach: r})) : motion.bodies.map(solid), ground = motion.ground.map(solid);
  const tracks = motion.tracks.map(x => ({
    ...x, ...Object.fromEntries(['position', 'orientation', 'point', 'axes', 'force', 'slip'].map(name => [name, numbers(x[name])])),
  }));
  const reach = bodies.reduce((s, b) => Math.max(s, b.reach), 0), contacts = motion.contacts, tangents = motion.tangents;
  const LINE = [[-1], [1]], DISC = Array.from({length: 49}, (_, i) => [Math.cos(i * Math.PI / 24), Math.sin(i * Math.PI / 24)]);
  const at = (x, i) => [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
  // The force on a contact, as long as it is drawn.
  const force = (track, k, i) => Array.from({length: 1 + tangents}, (_, j) => (1 + tangents) * i + j)
    .reduce((s, n) => sum(s, at(track.axes(k), n), track.force(k)[n] * motion.metres_per_newton), [0, 0, 0]);
  const places = (track, k) => bodies.map((_, b) => at(track.position(k), b));
  const there = (track, k) => Number.isFinite(track.position(k)[0]);

  const view = {azimuth: motion.view[0], elevation: motion.view[1], zoom: 1};
  let moment = 0, asked = false, playing = null;

  // What is shown of the world: all that the chosen bodies do, or around where they are, drawn back as they part.
  const middle = (track, k) => times(places(track, k).reduce((s, p) => sum(s, p)), 1 / bodies.length);
  const framings = new Map(), MOMENTS = 60, MARGIN = 1.06;
  const cut = (along, longest = motion.longest) => size(along) > longest ? times(unit(along), longest) : along;
  // What reaches farthest of each body, and the force on each contact, which counts up to the size of a body.
  function extents(track, k) {
    const turns = track.orientation(k), bodily = places(track, k).flatMap((p, b) => radii ? [{p, r: radii[b]}] :
      bodies[b].extremes.map(q => ({p: inWorld(placed(p, turns.subarray(4 * b, 4 * b + 4)), q), r: 0})));
    const forces = Array.from({length: contacts}, (_, i) => sum(at(track.point(k), i), cut(force(track, k, i), reach)));
    return [...bodily, ...forces.filter(p => Number.isFinite(size(p))).map(p => ({p, r: 0}))];
  }
  function framing(chosen, aspect) {
    const key = [one('follow')?.checked, aspect.toFixed(2), ...chosen.map(x => x.label), chosen.length].join();
    if (!framings.has(key)) framings.set(key, framed(chosen, aspect));
    return framings.get(key)(moment);
  }
  function framed(chosen, aspect) {
    const few = Math.ceil(K / MOMENTS), seen = Array.from({length: Math.ceil((K - 1) / few) + 1}, (_, j) => Math.min(K - 1, j * few));
    const there_at = k => chosen.filter(x => there(x, k)), points = seen.map(k => there_at(k).flatMap(x => extents(x, k)));
    const half = (some, target) => MARGIN * fitted(some, target, motion.view[1], aspect);
    if (!one('follow')?.checked) {
      const all = points.flat().map(({p}) => p);
      const [low, high] = [Math.min, Math.max].map(f => [0, 1, 2].map(i => all.reduce((s, p) => f(s, p[i]), all[0][i])));
      const target = times(sum(low, high), 0.5), widest = half(points.flat(), target);
      return () => ({target, half: widest});
    }
    const centres = [], halves = [];
    for (let k = 0; k < K; k++) {
      const here = there_at(k);
      centres.push(here.length ? times(here.reduce((s, x) => sum(s, middle(x, k)), [0, 0, 0]), 1 / here.length) : centres[k - 1]);
    }
    seen.forEach((k, j) => halves.push(Math.max(halves[j - 1] || 0, half(points[j], centres[k]))));
    return k => ({target: centres[k], half: halves[Math.ceil(k / few)]});
  }

  let palette;
  function colours() {
    const style = getComputedStyle(stage), probe = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgb = colour => {
      probe.clearRect(0, 0, 1, 1);
      probe.fillStyle = colour;
      probe.fillRect(0, 0, 1, 1);
      return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).map(x => x / 255);
    };
    const ink = rgb(style.color), paper = rgb(style.getPropertyValue('--paper')), quiet = rgb(style.getPropertyValue('--quiet'));
    // Colours of curves are lighter on a dark page, as in the figures.
    const own = x => x === 'currentColor' ? ink : rgb(x).map(v => Math.min(1, DARK.matches ? 1.35 * v : v));
    palette = {ink, paper, quiet, of: tracks.map(x => own(x.colour)), stone: ink.map((v, i) => 0.45 * v + 0.55 * paper[i])};
  }

  function grid({origin, across, size: extent}, target, half) {
    const s = motion.square, [u, v] = across, from = sum(target, origin, -1), segments = [], r = 3 * half;
    const reachOf = (axis, i) => extent ? [0, extent[i]] : [s * Math.floor((dot(from, axis) - r) / s), s * Math.ceil((dot(from, axis) + r) / s)];
    const [[a, b], [c, d]] = [reachOf(u, 0), reachOf(v, 1)], point = (x, y) => sum(sum(origin, u, x), v, y);
    const steps = (low, high) => Array.from({length: Math.min(400, 1 + Math.floor((high - low) / s + 1e-6))}, (_, i) => low + i * s);
    for (const x of steps(a, b)) segments.push(...point(x, c), ...point(x, d));
    for (const y of steps(c, d)) segments.push(...point(a, y), ...point(b, y));
    return segments;
  }

  function drawGround({target, half}) {
    for (const plane of motion.planes) draws.lines(grid(plane, target, half), [...palette.quiet, 0.45], 1, {fade: [...target, 3.4 * half]});
    for (const g of ground) {
      draws.lines(g.edges, [...palette.quiet, 0.9], 1.4);
      draws.faces(g.corners, [...palette.quiet, 0.12], {ghost: true});
    }
  }

  function drawBodies(track, k, colour, edge, eye, ghost, width) {
    if (radii) return draws.balls(track.position(k), radii, [...colour, ghost ? 0.4 : 1], [...edge, 0.7], {ghost});
    const turns = track.orientation(k), marks = ghost ? 0.1 : 0.16;
    places(track, k).forEach((p, b) => {
      const body = bodies[b], place = placed(p, turns.subarray(4 * b, 4 * b + 4));
      draws.faces(body.corners, [...colour, ghost ? 0.26 : 1], {place, ghost, marks: body.quarters.map(x => x * marks)});
      draws.lines(body.edges.concat(outline(body, inBody(place, eye))), [...edge, 1], width, {place});
    });
  }

  // Where a place is in a picture of that width and height [px], and how far from the eye.
  const pixels = ({seen}, w, h) => place => {
    const p = [...place, 1], [a, b, , far] = [0, 1, 2, 3].map(j => p.reduce((s, v, k) => s + seen[4 * k + j] * v, 0));
    return {left: w * (0.5 + a / far / 2), top: h * (0.5 - b / far / 2), far};
  };

  // How far each run's farthest body is from where it is in the reference: lines between centres that can be seen.
  function gaps(cell, pixel) {
    if (radii || tracks[0].role !== 'reference' || !cell.includes(tracks[0]) || !there(tracks[0], moment)) return [];
    const theirs = places(tracks[0], moment);
    return cell.filter(x => x !== tracks[0] && there(x, moment)).map(x => places(x, moment)
      .map((p, b) => ({track: x, from: theirs[b], to: p, far: size(sum(p, theirs[b], -1))})).reduce((a, b) => b.far > a.far ? b : a))
      .filter(({from, to}) => {
        const [p, q] = [from, to].map(pixel);
        return Math.hypot(p.left - q.left, p.top - q.top) > SHORT;
      });
  }

  function drawTrail(track, k, colour, width) {
    const segments = [];
    for (let i = 0; i < k; i++) {
      if (there(track, i + 1)) places(track, i).forEach((p, b) => segments.push(...p, ...places(track, i + 1)[b]));
    }
    draws.lines(segments, [...colour, 0.85], width);
  }

  // Corners of the friction that a formulation admits over mu p_n, in the axes of the contact; its own axes may turn.
  function admitted({section}, [...friction], [...slip]) {
    if (section === 'disc') return tangents === 1 ? LINE : DISC;
    const slides = Math.hypot(...slip) > motion.sticks, found = section && section[slides ? 'sliding' : 'sticking'];
    if (!found || found.length < 2) return [];
    if (tangents === 1) return LINE;
    const along = {fixed: [1, 0], sliding: slip, friction}[section.axes[slides ? 1 : 0]], far = along && Math.hypot(...along);
    if (!far) return [];
    const [c, s] = along.map(x => x / far);
    return [...found, found[0]].map(([x, y]) => [c * x - s * y, s * x + c * y]);
  }

  // Force, friction cone up to the normal force, and sliding velocity of every contact, in front of the bodies.
  function drawContacts(track, k, colour, width, head) {
    const axes = track.axes(k), forces = track.force(k), slip = track.slip(k), points = track.point(k), d = 1 + tangents;
    const shafts = [], heads = [], rims = [], ribs = [], cones = [], slides = [];
    for (let i = 0; i < contacts; i++) {
      const p = at(points, i), own = Array.from({length: d}, (_, j) => at(axes, d * i + j));
      const f = forces.subarray(d * i, d * (i + 1)), n = f[0] * motion.metres_per_newton;
      const total = force(track, k, i);
      if (one('forces')?.checked && size(total) > 0.01 * reach && Number.isFinite(size(total))) arrow(p, cut(total), shafts, heads, head);
      const section = admitted(track, f.subarray(1), slip.subarray(tangents * i, tangents * (i + 1)));
      if (one('cones')?.checked && n > 0.01 * reach && section.length > 1) {
        const high = Math.min(n, motion.tallest / Math.max(1, track.mu[i])), wide = high * track.mu[i], top = sum(p, own[0], high);
        const rim = section.map(s => s.reduce((q, x, j) => sum(q, own[1 + j], x * wide), top)), every = Math.ceil(rim.length / 13);
        for (let j = 0; j + 1 < rim.length; j++) {
          const [a, b] = [rim[j], rim[j + 1]], m = unit(cross(sum(a, p, -1), sum(b, p, -1)));
          rims.push(...a, ...b);
          if (j % every === 0) ribs.push(...p, ...a);
          cones.push(...p, ...m, ...a, ...m, ...b, ...m);
        }
        if (tangents === 1) ribs.push(...p, ...rim[1]);
      }
      const v = own.slice(1).reduce((s, a, j) => sum(s, a, slip[tangents * i + j] * motion.metres_per_speed), [0, 0, 0]);
      if (one('slides')?.checked && size(v) > 0.02 * reach) arrow(p, cut(v), slides, slides.heads ||= [], 0.6 * head);
    }
    draws.faces(cones, [...colour, 0.13], {ghost: true, front: true});
    draws.lines(ribs, [...colour, 0.4], 0.4 * width, {front: true});
    draws.lines(rims, [...colour, 0.9], 0.45 * width, {front: true});
    draws.lines(slides, [...colour, 0.9], 0.6 * width, {front: true});
    draws.faces(slides.heads || [], [...colour, 1], {front: true});
    draws.lines(shafts, [...colour, 1], width, {front: true});
    draws.faces(heads, [...colour, 1], {front: true});
  }

  const shown = () => tracks.filter((_, i) => stage.querySelector(`[name=track][value="${i}"]`).checked);

  function draw() {
    asked = false;
    const chosen = shown(), cells = one('layout').checked && chosen.length ? chosen.map(x => [x]) : [chosen];
    const columns = Math.min(cells.length, Math.ceil(Math.sqrt(cells.length * canvas.clientWidth / canvas.clientHeight / 1.3))), rows = Math.ceil(cells.length / columns);
    // Many small pictures get more room; the canvas draws anew when it has it.
    canvas.style.height = rows > 2 ? `${11 * rows}rem` : '';
    const scale = Math.min(MOST_PIXELS, devicePixelRatio);
    [canvas.width, canvas.height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
    const [w, h] = [canvas.width / columns, canvas.height / rows], width = scale * (cells.length > 4 ? 0.7 : 1);
    draws.clear();
    cells.forEach((cell, i) => {
      const part = [w * (i % columns), canvas.height - h * (1 + Math.floor(i / columns)), w, h].map(Math.round);
      // Grains do not overlay each other: pictures of one scale can be compared.
      const {target, half} = framing(radii && chosen.length ? chosen : cell.length ? cell : tracks.slice(0, 1), w / h);
      const eye = camera(target, half / view.zoom, view.azimuth, view.elevation, w / h);
      draws.look(eye, part);
      drawGround(eye);
      const here = cell.filter(x => there(x, moment)), head = 0.16 * Math.min(reach, eye.half);
      here.forEach((x, j) => {
        const own = palette.of[tracks.indexOf(x)], reference = x.role === 'reference';
        if (one('trail')?.checked) drawTrail(x, moment, own, SHAFT * 0.6 * width);
        const edge = reference || j ? own : own.map((v, n) => 0.5 * v + 0.5 * palette.ink[n]);
        drawBodies(x, moment, reference || (radii && x.colour === 'currentColor') ? palette.stone : own, edge, eye.eye, j > 0, (reference ? 1.8 : 1.5) * width);
      });
      here.forEach(x => drawContacts(x, moment, palette.of[tracks.indexOf(x)], SHAFT * width, head));
      // On a rim of paper, since bodies are behind.
      const apart = gaps(here, pixels(eye, w / scale, h / scale)).flatMap(({from, to}) => [...from, ...to]);
      draws.lines(apart, [...palette.paper, 1], 3 * SHAFT * width, {front: true});
      draws.lines(apart, [...palette.ink, 1], SHAFT * width, {front: true});
    });
    label(cells.length > 1 ? cells : [], columns, rows);
    number(cells, columns, rows);
  }

  function label(cells, columns, rows) {
    stage.querySelector('.cells').replaceChildren(...cells.map(([x], i) => Object.assign(document.createElement('span'), {
      textContent: x.label, style: `left:${100 * (i % columns) / columns}%;top:${100 * Math.floor(i / columns) / rows}%`,
    })));
  }

  // Distances beside their lines, and numbers of the contacts beside where each is of the first that is shown.
  function number(cells, columns, rows) {
    const marks = cells.flatMap((cell, n) => {
      const x = cell.find(track => there(track, moment));
      if (!x) return [];
      const w = canvas.clientWidth / columns, h = canvas.clientHeight / rows, {target, half} = framing(cell, w / h);
      const pixel = pixels(camera(target, half / view.zoom, view.azimuth, view.elevation, w / h), w, h);
      const points = one('numbers')?.checked ? Array.from({length: contacts}, (_, i) => ({text: i, ...pixel(at(x.point(moment), i))})) : [];
      const told = gaps(cell, pixel).map(({track, from, to, far}) => ({text: `${track.label} ${length(far)}`, ...pixel(times(sum(from, to), 0.5))}));
      return [...told, ...points].map(({left, top, ...mark}) => ({...mark, left: left + w * (n % columns), top: top + h * Math.floor(n / columns)}));
    }).filter(({left, top, far}) => far > 0 && left > 0 && top > 0 && left < canvas.clientWidth - 16 && top < canvas.clientHeight - 16);
    const spans = marks.map(({text}) => Object.assign(document.createElement('span'), {textContent: text})), taken = [];
    stage.querySelector('.numbers').replaceChildren(...spans);
    const sizes = spans.map(x => [x.offsetWidth + 2, x.offsetHeight + 2]);
    // Each goes to the nearest place where it is on none before it.
    spans.forEach((span, i) => {
      const [w, h] = sizes[i], free = AROUND.map(([x, y]) => ({left: marks[i].left + x * w, top: marks[i].top + y * h, w, h}))
        .find(a => !taken.some(b => a.left < b.left + b.w && b.left < a.left + a.w && a.top < b.top + b.h && b.top < a.top + a.h));
      const {left, top} = free || marks[i];
      taken.push({left, top, w, h});
      Object.assign(span.style, {left: `${left}px`, top: `${top}px`});
    });
  }

  const digits = x => x === 0 ? '0' : x >= 100 ? x.toFixed(0) : x.toPrecision(2).replace(/e.*/, '');
  const length = x => x < 1e-6 ? 'less than 0.001\u00a0mm' : x < 1 ? `${digits(1e3 * x)}\u00a0mm` : `${digits(x)}\u00a0m`;
  function distance(track, k) {
    if (!there(track, k)) return `${track.label} has ended or is out of sight`;
    const [ours, theirs] = [track, tracks[0]].map(x => places(x, k)), [q, p] = [track, tracks[0]].map(x => x.orientation(k));
    const far = Math.max(...ours.map((x, b) => size(sum(x, theirs[b], -1))));
    const turn = Math.max(...ours.map((_, b) => Math.hypot(...[0, 1, 2, 3].map(i => q[4 * b + i] - p[4 * b + i]))));
    const other = Math.max(...ours.map((_, b) => Math.hypot(...[0, 1, 2, 3].map(i => q[4 * b + i] + p[4 * b + i]))));
    const angle = 4 * Math.asin(Math.min(1, Math.min(turn, other) / 2)) * 180 / Math.PI;
    return `${track.label} ${length(far)}${angle > 0.05 ? ` and ${digits(angle)}°` : ''}`;
  }

  const slider = one('time'), now = k => (LAST * k / (K - 1)).toFixed(motion.decimals);
  function tell() {
    const runs = tracks[0].role === 'reference' ? shown().filter(x => x.role === 'run') : [];
    const far = runs.length ? ` Distance from the reference${bodies.length > 1 ? ', farthest body' : ''}: ${runs.map(x => distance(x, moment)).join('; ')}.` : '';
    const time = LAST * moment / (K - 1), [start, end] = motion.compared;
    const aside = time > end + 1e-9 ? ', after the time compared' : time < start - 1e-9 ? ', before the time compared' : '';
    words.textContent = `Time ${now(moment)} s${aside}.${far}`;
    slider.value = moment;
    slider.setAttribute('aria-valuetext', `${now(moment)} seconds`);
  }

  function redraw() {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
    tell();
  }

  // Playing goes on with real time by `motion.speed`; whoever wants less motion sees a moment twice a second.
  function play(on) {
    one('play').textContent = on ? 'Pause' : 'Play';
    if (!on) return void (playing = null);
    const start = performance.now(), from = moment === K - 1 ? 0 : moment * LAST / (K - 1), run = playing = {};
    const next = stamp => {
      if (playing !== run) return;
      const passed = Math.max(0, stamp - start) / 1e3, time = from + (STEADY.matches ? Math.floor(2 * passed) / 2 : passed) * motion.speed;
      clock.set(Math.min(time, LAST));
      if (time >= LAST) play(false);
      else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  function turn(x, y) {
    view.azimuth -= x;
    view.elevation = Math.max(-0.2, Math.min(1.56, view.elevation + y));
    redraw();
  }
  function zoom(by) {
    view.zoom = Math.max(0.2, Math.min(12, view.zoom * by));
    redraw();
  }
  function reset() {
    [view.azimuth, view.elevation, view.zoom] = [...motion.view, 1];
    redraw();
  }

  const keys = {
    ArrowLeft: () => turn(0.1, 0), ArrowRight: () => turn(-0.1, 0), ArrowUp: () => turn(0, 0.1), ArrowDown: () => turn(0, -0.1),
    '+': () => zoom(1.2), '=': () => zoom(1.2), '-': () => zoom(1 / 1.2), Home: reset, 0: reset, ' ': () => play(!playing),
  };
  canvas.addEventListener('keydown', event => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  const fingers = new Map();
  canvas.addEventListener('pointerdown', event => {
    fingers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const others = [...fingers.values()].filter(x => x.pointerId !== event.pointerId);
    fingers.set(event.pointerId, event);
    turn((event.clientX - before.clientX) / 150 / fingers.size, (event.clientY - before.clientY) / 150 / fingers.size);
    const apart = x => Math.hypot(x.clientX - others[0].clientX, x.clientY - others[0].clientY);
    if (others.length === 1) zoom(apart(event) / Math.max(1, apart(before)));
  });
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, event => fingers.delete(event.pointerId));
  // A page is scrolled by the wheel until somebody works on the picture.
  canvas.addEventListener('wheel', event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 500));
  }, {passive: false});
  canvas.addEventListener('webglcontextlost', () => stage.classList.remove('moves'));

  slider.addEventListener('input', () => {
    play(false);
    clock.set(slider.value * LAST / (K - 1));
  });
  one('play').addEventListener('click', () => play(!playing));
  one('reset').addEventListener('click', reset);
  stage.querySelectorAll('fieldset input').forEach(box => box.addEventListener('change', redraw));
  DARK.addEventListener('change', () => { colours(); redraw(); });
  new ResizeObserver(redraw).observe(canvas);

  colours();
  stage.classList.add('moves');
  // Where nothing else on the page has chosen a time, a moment is shown at which bodies have parted.
  clock.suggest(motion.begin);
  clock.listen(time => {
    moment = Math.max(0, Math.min(K - 1, Math.round(time / LAST * (K - 1)))) || 0;
    redraw();
  });
})();
