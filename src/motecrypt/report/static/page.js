// Links into closed parts open them.
"use strict";

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const part = target.closest("details");
  if (part && !part.open) {
    part.open = true;
    target.scrollIntoView();
  }
}

window.addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) openTarget();
});
openTarget();
