// The time that a page shows: whoever draws a moment listens, whoever offers a choice of moments sets it.
const clock = {
  time: 0,
  listeners: [],
  listen(show) {
    this.listeners.push(show);
    show(this.time);
  },
  set(time) {
    this.time = time;
    for (const show of this.listeners) show(time);
  },
};
