// The time that a page shows: whoever draws a moment listens, whoever offers a choice of moments sets it.
const clock = {
  time: 0,
  chosen: false,
  listeners: [],
  listen(show) {
    this.listeners.push(show);
    show(this.time);
  },
  // What a part shows that opens, as long as the reader has chosen no time.
  suggest(time) {
    if (this.chosen) return;
    this.set(time);
    this.chosen = false;
  },
  set(time) {
    this.chosen = true;
    this.time = time;
    for (const show of this.listeners) show(time);
  },
};
