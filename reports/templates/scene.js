// Solids, lines and arrows in space, drawn by WebGL 2. Points are [x, y, z] or runs of such in one array.
const sum = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const size = a => Math.hypot(a[0], a[1], a[2]);
const unit = a => times(a, 1 / (size(a) || 1));
const SHARP = Math.cos(35 * Math.PI / 180);
const STILL = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

// The place of a body, from its position and unit quaternion, as a matrix in columns.
function placed([x, y, z], [w, a, b, c]) {
  return [
    1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b), 0,
    2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a), 0,
    2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b), 0, x, y, z, 1,
  ];
}

// A point of a body at the place m in the world.
const inWorld = (m, p) => [0, 1, 2].map(i => m[12 + i] + m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2]);

// A point of the world in the axes of a body at the place m.
function inBody(m, p) {
  const r = sum(p, m.slice(12, 15), -1);
  return [0, 4, 8].map(i => dot(m.slice(i, i + 3), r));
}

function product(a, b) {
  return a.map((_, k) => [0, 1, 2, 3].reduce((s, j) => s + a[4 * j + k % 4] * b[4 * (k >> 2) + j], 0));
}

// A camera that looks at `target`: `half` [m] fits into the smaller of half the width and half the height of the picture.
const FAR = 3.2;
function camera(target, half, azimuth, elevation, aspect) {
  const cotangent = FAR * Math.min(1, aspect), distance = FAR * half;
  const back = [Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation)];
  const right = [-Math.sin(azimuth), Math.cos(azimuth), 0], up = cross(back, right), eye = sum(target, back, distance);
  const near = distance / 50, far = distance * 30;
  const view = [0, 1, 2].flatMap(i => [right[i], up[i], back[i], 0]).concat(-dot(right, eye), -dot(up, eye), -dot(back, eye), 1);
  const lens = [
    cotangent / aspect, 0, 0, 0, 0, cotangent, 0, 0,
    0, 0, (near + far) / (near - far), -1, 0, 0, 2 * near * far / (near - far), 0,
  ];
  return {eye, back, up, seen: product(lens, view), target, half};
}

// The `half` with which such a camera has points in the picture from all around, each with a ball of radius r about it:
// what a turning cylinder about them needs, and never more than a sphere.
function fitted(points, target, elevation, aspect) {
  const [c, s] = [Math.cos(elevation), Math.sin(elevation)], least = Math.min(1, aspect);
  let cylinder = 0, sphere = 0;
  for (const {p, r} of points) {
    const [x, y, z] = sum(p, target, -1), out = Math.hypot(x, y) + r, up = z + Math.sign(z) * r;
    const front = least * Math.abs(up * c - out * s) + (up * s + out * c) / FAR;
    const back = least * Math.abs(up * c + out * s) + (up * s - out * c) / FAR;
    cylinder = Math.max(cylinder, front, back, least / aspect * out + up * s / FAR);
    sphere = Math.max(sphere, Math.hypot(x, y, z) + r);
  }
  return Math.min(cylinder, sphere * Math.hypot(1, 1 / FAR));
}

// What is drawn of a surface: corners with normals, its edges, and the smooth edges of which some make its outline.
function mesh(vertices, triangles) {
  const at = i => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
  const faces = [], around = new Map(), pairs = new Map();
  for (let i = 0; i < triangles.length; i += 3) {
    const corners = [...triangles.slice(i, i + 3)], [a, b, c] = corners.map(at);
    const n = cross(sum(b, a, -1), sum(c, a, -1));
    if (size(n) === 0) continue;
    const face = {corners, area: n, normal: unit(n)};
    faces.push(face);
    corners.forEach((v, k) => {
      around.set(v, [...(around.get(v) || []), face]);
      const ends = [v, corners[(k + 1) % 3]].sort((x, y) => x - y), key = ends.join();
      pairs.set(key, {ends, faces: [...(pairs.get(key)?.faces || []), face]});
    });
  }
  const corners = faces.flatMap(f => f.corners.flatMap(v => {
    const near = around.get(v).filter(g => dot(g.normal, f.normal) > SHARP);
    return [...at(v), ...unit(near.reduce((s, g) => sum(s, g.area), [0, 0, 0]))];
  }));
  const edges = [], smooth = [];
  for (const {ends, faces: [f, g]} of pairs.values()) {
    const [a, b] = ends.map(at), bend = g ? dot(f.normal, g.normal) : -1;
    if (bend < SHARP) edges.push(...a, ...b);
    else if (bend < 0.9999) smooth.push({a, b, f: f.normal, g: g.normal});
  }
  const points = Array.from({length: vertices.length / 3}, (_, i) => at(i)), reach = Math.max(...points.map(size));
  // A round body shows how it spins by quarters of different shade, about the axes along which it is not thin.
  const round = Math.max(...[...around.values()].map(x => x.length)) > 12;
  const thick = [0, 1, 2].map(i => Math.max(...points.map(p => Math.abs(p[i]))) > 0.3 * reach);
  // What reaches farthest in each of 26 directions stands for the whole where only its extent matters.
  const directions = [-1, 0, 1].flatMap(x => [-1, 0, 1].flatMap(y => [-1, 0, 1].map(z => [x, y, z]))).filter(size);
  const extremes = [...new Set(directions.map(d => points.reduce((a, b) => dot(b, d) > dot(a, d) ? b : a)))];
  return {corners: new Float32Array(corners), edges, smooth, reach, extremes, quarters: thick.map(x => x && round ? 1 : 0)};
}

// The edges between what an eye sees of a surface and what it does not, in the axes of the body.
function outline({smooth}, eye) {
  return smooth.flatMap(({a, b, f, g}) => {
    const from = sum(eye, a, -1);
    return (dot(f, from) > 0) !== (dot(g, from) > 0) ? [...a, ...b] : [];
  });
}

// An arrow as a shaft, a line, and a head of triangles with normals.
function arrow(tail, along, shafts, heads, head) {
  const length = size(along), axis = unit(along), tip = sum(tail, along), neck = sum(tip, axis, -Math.min(head, length));
  const across = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), other = cross(axis, across);
  shafts.push(...tail, ...neck);
  const rim = Array.from({length: 13}, (_, i) => sum(times(across, Math.cos(i * Math.PI / 6)), other, Math.sin(i * Math.PI / 6)));
  for (let i = 0; i < 12; i++) {
    const [p, q] = [rim[i], rim[i + 1]].map(r => sum(neck, r, 0.36 * Math.min(head, length)));
    heads.push(...p, ...rim[i], ...q, ...rim[i + 1], ...tip, ...unit(sum(rim[i], rim[i + 1])));
    heads.push(...q, ...times(axis, -1), ...p, ...times(axis, -1), ...neck, ...times(axis, -1));
  }
}

const SOLID_VERTEX = `#version 300 es
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;
uniform mat4 seen, place; out vec3 n, own;
void main() { n = mat3(place) * normal; own = position; gl_Position = seen * place * vec4(position, 1.0); }`;
const SOLID_PIXEL = `#version 300 es
precision highp float;
in vec3 n, own; uniform vec4 colour; uniform vec3 light, quarters; out vec4 pixel;
void main() {
  float shade = 0.62 + 0.38 * abs(dot(normalize(n), light));
  vec3 side = mix(vec3(1.0), sign(own), ceil(quarters));
  shade *= 1.0 - max(quarters.x, max(quarters.y, quarters.z)) * step(0.0, side.x * side.y * side.z);
  pixel = vec4(colour.rgb * shade * colour.a, colour.a);
}`;
const LINE_VERTEX = `#version 300 es
layout(location = 0) in vec2 corner; layout(location = 1) in vec3 a; layout(location = 2) in vec3 b;
uniform mat4 seen, place; uniform vec2 picture; uniform float width; out vec3 world;
void main() {
  vec4 u = place * vec4(a, 1.0), v = place * vec4(b, 1.0), p = seen * u, q = seen * v;
  float near = 1e-3;
  if (p.w < near) { float s = (near - p.w) / (q.w - p.w); p = mix(p, q, s); u = mix(u, v, s); }
  else if (q.w < near) { float s = (near - q.w) / (p.w - q.w); q = mix(q, p, s); v = mix(v, u, s); }
  vec2 way = (q.xy / q.w - p.xy / p.w) * picture;
  way = length(way) > 0.0 ? normalize(way) : vec2(1.0, 0.0);
  world = mix(u.xyz, v.xyz, corner.x);
  gl_Position = mix(p, q, corner.x);
  vec2 side = vec2(-way.y, way.x) * corner.y + way * (2.0 * corner.x - 1.0) * 0.5;
  gl_Position.xy += side * width / picture * gl_Position.w;
  gl_Position.z -= 4e-4 * gl_Position.w;
}`;
const LINE_PIXEL = `#version 300 es
precision highp float;
in vec3 world; uniform vec4 colour, fade; out vec4 pixel;
void main() {
  float rest = fade.w > 0.0 ? 1.0 - smoothstep(0.3, 1.0, distance(world, fade.xyz) / fade.w) : 1.0;
  pixel = vec4(colour.rgb, 1.0) * colour.a * rest;
}`;

// Balls as squares that face the eye, within which a pixel finds its place on the ball.
const BALL_VERTEX = `#version 300 es
layout(location = 0) in vec2 corner; layout(location = 1) in vec3 centre; layout(location = 2) in float radius;
uniform mat4 seen; uniform vec3 right, up, back; out vec2 at; out vec3 middle; out float size;
void main() {
  at = vec2(2.0 * corner.x - 1.0, corner.y);
  middle = centre;
  size = radius;
  gl_Position = seen * vec4(centre + radius * (at.x * right + at.y * up), 1.0);
}`;
const BALL_PIXEL = `#version 300 es
precision highp float;
in vec2 at; in vec3 middle; in float size; uniform mat4 seen; uniform vec4 colour, edge; uniform vec3 right, up, back, light;
out vec4 pixel;
void main() {
  float far = dot(at, at);
  if (far > 1.0) discard;
  vec3 n = at.x * right + at.y * up + sqrt(1.0 - far) * back;
  vec4 there = seen * vec4(middle + size * n, 1.0);
  gl_FragDepth = 0.5 * there.z / there.w + 0.5;
  vec3 shaded = colour.rgb * (0.62 + 0.38 * abs(dot(n, light)));
  pixel = vec4(mix(shaded, edge.rgb, smoothstep(0.75, 0.95, far) * edge.a) * colour.a, colour.a);
}`;

// What draws on a canvas; null where the browser offers no WebGL 2.
function painter(canvas) {
  const gl = canvas.getContext('webgl2', {antialias: true});
  if (!gl) return null;
  const program = (...sources) => {
    const made = gl.createProgram();
    sources.forEach((source, i) => {
      const shader = gl.createShader([gl.VERTEX_SHADER, gl.FRAGMENT_SHADER][i]);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    });
    gl.linkProgram(made);
    const places = {};
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
      const {name} = gl.getActiveUniform(made, i);
      places[name] = gl.getUniformLocation(made, name);
    }
    return {made, places};
  };
  const solid = program(SOLID_VERTEX, SOLID_PIXEL), line = program(LINE_VERTEX, LINE_PIXEL), ball = program(BALL_VERTEX, BALL_PIXEL);
  const array = (...buffers) => {
    const made = gl.createVertexArray();
    gl.bindVertexArray(made);
    for (const [buffer, at, count, stride, offset, each] of buffers) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, count, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(at, each);
    }
    return made;
  };
  const filled = (data, use) => {
    const made = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.bufferData(gl.ARRAY_BUFFER, data, use);
    return made;
  };
  const corners = filled(new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), gl.STATIC_DRAW), stream = gl.createBuffer();
  const segments = array([corners, 0, 2, 8, 0, 0], [stream, 1, 3, 24, 0, 1], [stream, 2, 3, 24, 12, 1]);
  const surface = buffer => array([buffer, 0, 3, 24, 0, 0], [buffer, 1, 3, 24, 12, 0]);
  const loose = surface(stream), kept = new Map();
  let seen, light, picture, axes;
  return {
    // Everything from here on goes to a part of the canvas, in pixels from its lower left corner.
    look(at, part) {
      seen = at.seen;
      axes = {right: cross(at.up, at.back), up: at.up, back: at.back};
      light = unit(sum(sum(at.back, at.up, 0.9), cross(at.up, at.back), -0.5));
      picture = part.slice(2);
      gl.viewport(...part);
    },
    clear() {
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.depthFunc(gl.LEQUAL);
    },
    // Triangles, each corner with its normal; `ghost` hides nothing, `front` is hidden by nothing, `marks` show how it spins.
    faces(data, colour, {place = STILL, ghost = false, front = false, marks = [0, 0, 0]} = {}) {
      if (!data.length) return;
      if (data instanceof Float32Array) {
        if (!kept.has(data)) kept.set(data, surface(filled(data, gl.STATIC_DRAW)));
        gl.bindVertexArray(kept.get(data));
      } else {
        gl.bindBuffer(gl.ARRAY_BUFFER, stream);
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.STREAM_DRAW);
        gl.bindVertexArray(loose);
      }
      gl.useProgram(solid.made);
      gl.uniformMatrix4fv(solid.places.seen, false, seen);
      gl.uniformMatrix4fv(solid.places.place, false, place);
      gl.uniform4fv(solid.places.colour, colour);
      gl.uniform3fv(solid.places.light, light);
      gl.uniform3fv(solid.places.quarters, marks);
      gl[front ? 'disable' : 'enable'](gl.DEPTH_TEST);
      gl[ghost || !front ? 'disable' : 'enable'](gl.CULL_FACE);
      gl.depthMask(!ghost && !front);
      gl.drawArrays(gl.TRIANGLES, 0, data.length / 6);
      gl.depthMask(true);
    },
    // Balls of radii (n) at centres (3 n), all drawn at once; `ghost` hides nothing.
    balls(centres, radii, colour, edge, {ghost = false} = {}) {
      if (!kept.has(radii)) kept.set(radii, array([corners, 0, 2, 8, 0, 0], [stream, 1, 3, 12, 0, 1], [filled(radii, gl.STATIC_DRAW), 2, 1, 4, 0, 1]));
      gl.bindBuffer(gl.ARRAY_BUFFER, stream);
      gl.bufferData(gl.ARRAY_BUFFER, centres, gl.STREAM_DRAW);
      gl.bindVertexArray(kept.get(radii));
      gl.useProgram(ball.made);
      gl.uniformMatrix4fv(ball.places.seen, false, seen);
      gl.uniform4fv(ball.places.colour, colour);
      gl.uniform4fv(ball.places.edge, edge);
      gl.uniform3fv(ball.places.light, light);
      for (const [name, axis] of Object.entries(axes)) gl.uniform3fv(ball.places[name], axis);
      gl.enable(gl.DEPTH_TEST);
      gl.disable(gl.CULL_FACE);
      gl.depthMask(!ghost);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, radii.length);
      gl.depthMask(true);
    },
    // Segments from point to point, `width` pixels wide; with `fade` they vanish at a distance from a point.
    lines(data, colour, width, {place = STILL, front = false, fade = [0, 0, 0, 0]} = {}) {
      if (!data.length) return;
      gl.bindBuffer(gl.ARRAY_BUFFER, stream);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.STREAM_DRAW);
      gl.bindVertexArray(segments);
      gl.useProgram(line.made);
      gl.uniformMatrix4fv(line.places.seen, false, seen);
      gl.uniformMatrix4fv(line.places.place, false, place);
      gl.uniform4fv(line.places.colour, colour);
      gl.uniform4fv(line.places.fade, fade);
      gl.uniform2fv(line.places.picture, picture);
      gl.uniform1f(line.places.width, width);
      gl[front ? 'disable' : 'enable'](gl.DEPTH_TEST);
      gl.disable(gl.CULL_FACE);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, data.length / 6);
    },
  };
}
