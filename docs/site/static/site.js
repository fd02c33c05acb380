// What the theme leaves out for those who use a keyboard or a screen reader.
addEventListener("DOMContentLoaded", () => {
  const all = (which) => [...document.querySelectorAll(which)];
  for (const x of all("pre, .math, .table-wrapper")) if (x.scrollWidth > x.clientWidth) x.tabIndex = 0;
  for (const x of all("p.caption[role=heading]")) x.ariaLevel = 2;
  for (const x of all("aside.sidebar-drawer")) x.ariaLabel = "All pages";
  for (const x of all("aside.toc-drawer")) x.ariaLabel = "This page";
  // Parameters on lines of their own are no list of definitions.
  for (const x of all("dt dl, dt dl > dd")) x.role = "none";
});
