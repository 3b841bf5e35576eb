// What all views share: the index, elements made without markup, grades and addresses.

const DATA = JSON.parse(document.getElementById('index').textContent);
const MANY = 6; // loops beyond which the matrix shows marks alone

const GRADES = {
  e: { name: 'error', mark: 'E', says: 'could not be judged: the harness or the adapter broke' },
  f: { name: 'fail', mark: '✗', says: 'broken, and a MUST' },
  k: { name: 'known', mark: '≈', says: 'broken, and known to be: the baseline says why' },
  w: { name: 'warn', mark: '!', says: 'broken, and a SHOULD' },
  p: { name: 'pass', mark: '✓', says: 'kept' },
  i: { name: 'inconclusive', mark: '?', says: 'the run never got there, or the machine was late' },
  u: { name: 'unsupported', mark: '–', says: 'the loop does not expose what it takes' },
};
const LETTERS = Object.keys(GRADES); // the strongest first
const letterOf = (name) => LETTERS.find((letter) => GRADES[letter].name === name) || 'u';
const isBad = (letter) => letter === 'e' || letter === 'f';

/** An element: `el('a', {class: 'x', href: '#'}, 'text', child, null)`. Texts are never taken for markup. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(name, '');
    else if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const badge = (letter) => el('span', { class: `badge ${letter}` }, `${GRADES[letter].mark} ${GRADES[letter].name}`);
const counted = (number, what, many) => `${number} ${number === 1 ? what : many || `${what}s`}`;

/** What is stored of one run; it is read when it is asked for. */
function detailsOf(loop, place) {
  const stored = document.getElementById(`d-${DATA.loops.indexOf(loop)}-${place}`);
  return stored && JSON.parse(stored.textContent);
}

/** The address of a view: `#run=pause%2Fno-tools&loop=mine`. */
const address = (parts) => `#${new URLSearchParams(parts)}`;
const runAddress = (loop, id) => address({ run: id, loop: loop.name });
const clauseAddress = (id, loop) => address(loop ? { clause: id, loop: loop.name } : { clause: id });
const several = DATA.loops.length > 1;

/** A text in which `code` is marked as in Markdown. */
const prose = (text) => String(text || '').split('`').map((part, place) => (place % 2 ? el('code', {}, part) : part));

const linkTo = (source) => String(source || '').split(/(https:[^\s,;]+)/)
  .map((part, place) => (place % 2 ? el('a', { href: part, rel: 'noreferrer' }, part) : part));

function diffOf(text) {
  const kind = { '+': 'added', '-': 'gone' };
  const lines = text.split('\n').map((line) => el('span', { class: kind[line[0]] }, line || ' '));
  return el('pre', { class: 'diff' }, lines);
}
