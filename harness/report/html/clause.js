// A clause: what it asks for, and what became of it in each case.

function caseLine(loop, place, clause) {
  const [id, grade] = loop.results[place];
  const found = isBad(letterOf(grade)) || grade !== 'pass' ? detailsOf(loop, place)?.checks.find((check) => check.clause === clause) : null;
  return el('li', {}, el('a', { href: runAddress(loop, id) }, id), found && [' ', el('span', {}, prose(found.message))]);
}

function clauseOfLoop(loop, number, clause, open) {
  const of = TALLIES[number][clause.id] || {};
  const letters = LETTERS.filter((letter) => of[letter]);
  const sections = letters.map((letter) => {
    const telling = isBad(letter) || letter === 'w' || letter === 'k';
    const fold = el('details', { class: 'fold', open: telling && open });
    const list = el('ul', { class: 'cases' });
    const fill = () => { if (!list.firstChild) list.append(...of[letter].map((place) => caseLine(loop, place, clause.id))); };
    if (telling && open) fill();
    fold.addEventListener('toggle', fill);
    fold.append(el('summary', {}, badge(letter), ` in ${counted(of[letter].length, 'case')}`), list);
    return fold;
  });
  return el('section', { class: `card ${letters.find((letter) => isBad(letter) || letter === 'w' || letter === 'k') || ''}` },
    el('h2', {}, loop.name), sections.length ? sections : el('p', { class: 'soft' }, 'No case was about it.'));
}

function clauseView(id, name) {
  const clause = DATA.clauses.find((each) => each.id === id);
  if (!clause) return null;
  const chosen = DATA.loops.filter((loop) => !name || loop.name === name);
  const about = [['reason', clause.reason], ['advice', clause.advice]].filter(([, text]) => text);
  return [
    el('nav', { class: 'back', 'aria-label': 'Back' }, el('a', { href: '#' }, '← All results'),
      name && several && el('a', { href: clauseAddress(id) }, `${id} in all loops`)),
    el('h1', { tabindex: '-1' }, clause.id, clause.level && [' ', el('span', { class: 'chip' }, clause.level)]),
    clause.sentence && el('p', {}, prose(clause.sentence)),
    el('dl', { class: 'card' },
      about.map(([label, text]) => [el('dt', {}, label), el('dd', {}, prose(text))]),
      clause.source && [el('dt', {}, 'ground'), el('dd', {}, `${clause.ground === 'construction' ? 'by construction' : clause.ground}: `, linkTo(clause.source))]),
    chosen.map((loop) => clauseOfLoop(loop, DATA.loops.indexOf(loop), clause, chosen.length <= MANY)),
  ];
}
