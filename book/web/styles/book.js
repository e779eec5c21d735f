// What scrolls sideways in its own box (wide tables, code, formulas) can be reached and scrolled by keyboard.
function makeScrollersReachable() {
  for (const box of document.querySelectorAll(".bd-article pre, .bd-article div, .bd-article mjx-container")) {
    const scrolls = box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX);
    if (scrolls) box.tabIndex = 0;
    else if (box.tabIndex === 0 && !box.hasAttribute("role")) box.removeAttribute("tabindex");
  }
}
// Paper cannot be unfolded: what a reader was to predict and to solve is printed with its answers, a figure with where it comes from.
let unfolded = [];
function unfoldForPrint(isPrinting) {
  for (const fold of unfolded) fold.open = false;
  unfolded = isPrinting ? [...document.querySelectorAll("details:is(#predict *, #exercises *, .er-origin):not([open])")] : [];
  for (const fold of unfolded) fold.open = true;
}
matchMedia("print").addEventListener("change", (media) => unfoldForPrint(media.matches));
addEventListener("load", makeScrollersReachable);
addEventListener("resize", makeScrollersReachable);
