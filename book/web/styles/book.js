// What scrolls sideways in its own box (wide tables, code, formulas) can be reached and scrolled by keyboard.
function makeScrollersReachable() {
  for (const box of document.querySelectorAll(".bd-article pre, .bd-article div, .bd-article mjx-container")) {
    const scrolls = box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX);
    if (scrolls) box.tabIndex = 0;
    else if (box.tabIndex === 0 && !box.hasAttribute("role")) box.removeAttribute("tabindex");
  }
}
addEventListener("load", makeScrollersReachable);
addEventListener("resize", makeScrollersReachable);
