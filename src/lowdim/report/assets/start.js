// Puts the page together, draws the first picture, and lets tests look inside.
const start = () => {
  document.querySelectorAll("figure.map").forEach((figure, m) => {
    const view = new MapView(MAPS[m], figure);
    VIEWS.push(view);
    listen(view);
  });
  fillColorChoice();
  colorBy(COLORINGS[0]);
  for (const view of VIEWS) view.draw(); // now, not at the next frame

  const resized = new ResizeObserver(() => redraw());
  for (const view of VIEWS) resized.observe(view.base);
  byId("reset").addEventListener("click", () => VIEWS.forEach((view) => view.reset()));
  const modes = [...document.querySelectorAll('input[name="mode"]')], follow = () => {
    document.body.classList.toggle("moving", mode() === "move");
    document.body.classList.toggle("scrolling", mode() === "scroll");
  };
  for (const input of modes) input.addEventListener("change", follow);
  if (window.matchMedia("(pointer: coarse)").matches) modes[0].checked = true; // a finger scrolls, until told otherwise
  follow();
  document.querySelectorAll("[data-copy]").forEach((button) =>
    button.addEventListener("click", () => copyText(byId(button.dataset.copy).textContent, button)));
  window.addEventListener("scroll", () => hover(-1), { passive: true });

  // What is drawn while a page is being printed comes too late for some browsers: maps of few rows always have the pixels of paper.
  window.addEventListener("beforeprint", () => hover(-1));
  window.lowdimReport = {
    state, views: VIEWS, maps: MAPS, colorings: COLORINGS, firstPicture: performance.now(),
    neighborsOf, pointWords, selectedRows, hover, select, colorBy,
  };
};
start();
