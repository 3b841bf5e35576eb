// Which view is shown follows from the address, so that going back works and a view can be linked to.

const main = document.getElementById('main');
const homeView = document.getElementById('home');
const otherView = document.getElementById('view');
let left = 0;
let first = true;

function viewOf(parts) {
  if (parts.get('run')) return runView(parts.get('run'), parts.get('loop'));
  if (parts.get('clause')) return clauseView(parts.get('clause'), parts.get('loop'));
  return null;
}

function show() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const made = viewOf(parts);
  if (!homeView.hidden && made) left = window.scrollY;
  homeView.hidden = Boolean(made);
  otherView.hidden = !made;
  otherView.replaceChildren(...(made || []).flat(9).filter((each) => each));
  main.classList.toggle('wide', !made && DATA.loops.length > MANY);
  const title = (made ? otherView : homeView).querySelector('h1');
  document.title = `${title.textContent} · loop-harness report`;
  if (!first) title.focus({ preventScroll: true });
  if (!first || made) window.scrollTo(0, made ? 0 : left);
  first = false;
}

document.getElementById('made').textContent = [
  DATA.made && `judged ${DATA.made.replace('T', ' ').replace('Z', ' UTC')}`, `version ${DATA.version}`,
].filter(Boolean).join(', ');
homeView.append(...home().flat(9).filter((each) => each));
window.addEventListener('hashchange', show);
window.addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((each) => { each.open = true; }));
if (document.readyState === 'loading' && location.hash.length > 1) document.addEventListener('DOMContentLoaded', show);
else show();
