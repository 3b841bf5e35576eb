// The first view: the loops summed up, and the matrix of loops by clauses or by cases.

/** For each loop: cases by clause and grade, `{'PAUSE-1': {f: [0, 4], p: [2]}}`. */
const TALLIES = DATA.loops.map((loop) => {
  const tally = {};
  loop.results.forEach(([, , , letters], place) => {
    for (let number = 0; number < letters.length; number += 1) {
      const letter = letters[number];
      if (letter === '.') continue;
      const of = (tally[DATA.clauses[number].id] ??= {});
      (of[letter] ??= []).push(place);
    }
  });
  return tally;
});

const worstOf = (of) => LETTERS.find((letter) => of && of[letter]);
const brokenIn = (number) => Object.values(TALLIES[number]).filter((of) => isBad(worstOf(of))).length;

function verdictOf(loop, number) {
  if (loop.problem) return ['e', 'cannot be driven'];
  const broken = brokenIn(number);
  if (broken) return ['f', `${counted(broken, 'clause')} broken`];
  if (loop.cutShort) return ['i', 'incomplete'];
  if (loop.results.some((result) => result[1] === 'error')) return ['e', 'some cases could not be judged'];
  const known = Object.values(TALLIES[number]).filter((of) => of.k).length;
  if (known) return ['k', `nothing new, ${counted(known, 'clause')} known`];
  return loop.decided ? ['p', 'nothing broken'] : ['u', 'nothing was decided'];
}

function card(loop, number) {
  const [letter, verdict] = verdictOf(loop, number);
  const counts = {};
  loop.results.forEach((result) => { const is = letterOf(result[1]); counts[is] = (counts[is] || 0) + 1; });
  const shown = LETTERS.filter((is) => counts[is]);
  const bar = el('div', { class: 'bar', 'aria-hidden': 'true' }, shown.map((is) => {
    const part = el('i', { class: is });
    part.style.flexGrow = counts[is];
    return part;
  }));
  const told = shown.map((is) => `${counts[is]} ${GRADES[is].name}`).join(', ');
  return el('li', { class: letter },
    el('h2', {}, loop.name),
    loop.target && loop.target !== loop.name && el('p', { class: 'soft small mono' }, loop.target),
    el('p', { class: 'verdict' }, `${GRADES[letter].mark} ${verdict}`),
    loop.problem ? el('pre', { class: 'small' }, loop.problem) : [
      bar,
      el('p', { class: 'small' }, `${counted(loop.results.length, loop.recorded ? 'recording' : 'case')}: ${told}`),
      el('p', { class: 'soft small' }, `${loop.profile ? `${loop.profile}: ` : ''}${loop.decided} of ${loop.clauses} clauses decided`,
        loop.byWord ? `, ${loop.byWord} by the adapter's word` : ''),
    ],
    loop.cutShort && el('details', { class: 'small' }, el('summary', {}, loop.cutShort), el('p', {}, loop.unplayed.join(', '))),
    loop.notes.map((note) => el('p', { class: 'soft small' }, note)));
}

function cellOf(letter, count, label, href) {
  if (!letter) return el('td', {}, el('span', { class: 'cell none' }, el('span', { class: 'unseen' }, 'not judged')));
  const inner = [
    el('span', { 'aria-hidden': 'true' }, GRADES[letter].mark),
    count > 1 && el('small', { 'aria-hidden': 'true' }, count),
    el('span', { class: 'unseen' }, label),
  ];
  const name = `cell ${letter}`;
  return el('td', {}, href ? el('a', { class: name, href, title: label }, inner) : el('span', { class: name, title: label }, inner));
}

function clauseRows() {
  return DATA.clauses.map((clause) => {
    const letters = TALLIES.map((tally) => worstOf(tally[clause.id]));
    return {
      group: clause.family && `${clause.family} · ${DATA.families[clause.family] || ''}`.replaceAll('`', ''),
      text: `${clause.id} ${clause.sentence}`,
      letters,
      head: [el('a', { href: clauseAddress(clause.id) }, clause.id), el('small', {}, prose(clause.sentence))],
      cell: (number) => {
        const letter = letters[number];
        const places = letter ? TALLIES[number][clause.id][letter] : [];
        const label = letter && `${GRADES[letter].name} in ${counted(places.length, 'case')}: ${clause.id}, ${DATA.loops[number].name}`;
        return cellOf(letter, isBad(letter) || letter === 'w' || letter === 'k' ? places.length : 0, label, clauseAddress(clause.id, several && DATA.loops[number]));
      },
    };
  });
}

function caseRows() {
  const rows = new Map();
  DATA.loops.forEach((loop, number) => loop.results.forEach((result) => {
    if (!rows.has(result[0])) rows.set(result[0], []);
    rows.get(result[0])[number] = letterOf(result[1]);
  }));
  return [...rows].map(([id, found]) => {
    const letters = DATA.loops.map((_, number) => found[number]);
    return {
      group: id.includes('/') ? id.slice(0, id.indexOf('/')) : '',
      text: id,
      letters,
      head: several ? [id] : [el('a', { href: runAddress(DATA.loops[0], id) }, id)],
      cell: (number) => {
        const letter = letters[number];
        return cellOf(letter, 0, letter && `${GRADES[letter].name}: ${id}, ${DATA.loops[number].name}`, runAddress(DATA.loops[number], id));
      },
    };
  });
}

const SHOWN = {
  broken: ['Broken', (row) => row.letters.some(isBad)],
  remarks: ['Remarks', (row) => row.letters.some((letter) => 'kwi'.includes(letter || '.'))],
  judged: ['All', (row) => row.letters.some(Boolean)],
};

/** What is alike at the start of all names: in a narrow column it would be all that is seen of them. */
const ALIKE = DATA.loops.length > MANY ? DATA.loops.map((loop) => loop.name).reduce((one, other) => {
  let end = 0;
  while (end < one.length && one[end] === other[end]) end += 1;
  return one.slice(0, end);
}).replace(/[^-_./: ]*$/, '') : '';
const columnName = (loop) => (ALIKE.length > 3 && loop.name.length > 12 ? `…${loop.name.slice(ALIKE.length)}` : loop.name);

/** The table, and a function that shows only some of its rows and returns how many. */
function matrix(rows, what) {
  const head = el('tr', {}, el('th', { scope: 'col' }, what),
    DATA.loops.map((loop) => el('th', { scope: 'col', title: loop.name }, el('span', {}, several ? columnName(loop) : 'result'))));
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.group)) groups.set(row.group, []);
    groups.get(row.group).push(row);
  }
  const bodies = [...groups].map(([group, members]) => {
    const body = el('tbody', {});
    if (group) body.append(el('tr', { class: 'group' }, el('th', { colspan: DATA.loops.length + 1, scope: 'rowgroup' }, el('span', {}, group))));
    members.forEach((row) => {
      row.line = el('tr', {}, el('th', { scope: 'row' }, row.head), DATA.loops.map((_, number) => row.cell(number)));
      body.append(row.line);
    });
    return [body, members];
  });
  const caption = el('caption', { class: 'unseen' }, `${what}s and what became of them`);
  const table = el('table', { class: DATA.loops.length > MANY ? 'matrix many' : 'matrix' }, caption, el('thead', {}, head), bodies.map(([body]) => body));
  const show = (way, words) => {
    let count = 0;
    for (const [body, members] of bodies) {
      let any = false;
      for (const row of members) {
        const is = SHOWN[way][1](row) && words.every((word) => row.text.toLowerCase().includes(word));
        row.line.hidden = !is;
        any ||= is;
        count += is;
      }
      body.hidden = !any;
    }
    return count;
  };
  return { table, show, total: rows.length };
}

const MADE = { clause: clauseRows, case: caseRows };

function choice(legend, name, options, chosen, change) {
  return el('fieldset', {}, el('legend', {}, legend), Object.entries(options).map(([value, label]) => el('label', { class: 'way' },
    el('input', { type: 'radio', name, value, checked: value === chosen, change: () => change(value) }), el('span', {}, label))));
}

function home() {
  const made = {};
  const few = DATA.loops.length <= MANY;
  const broken = TALLIES.some((_, number) => brokenIn(number));
  const state = { by: 'clause', way: few && broken ? 'broken' : 'judged', words: [] };
  const frame = el('section', { class: 'frame', tabindex: '0', 'aria-label': 'results' });
  const told = el('output', {});
  const update = () => {
    const now = (made[state.by] ??= matrix(MADE[state.by](), state.by));
    if (frame.firstChild !== now.table) frame.replaceChildren(now.table);
    const count = now.show(state.way, state.words);
    told.textContent = count ? `${count} of ${counted(now.total, state.by)}` : `no ${state.by} like that`;
  };
  const find = el('input', { class: 'find', type: 'search', placeholder: 'Find a clause or a case', 'aria-label': 'Find a clause or a case',
    input: () => { state.words = find.value.toLowerCase().split(/\s+/).filter(Boolean); update(); } });
  const ways = Object.fromEntries(Object.entries(SHOWN).map(([value, [label]]) => [value, label]));
  const red = DATA.loops.filter((loop, number) => ['e', 'f'].includes(verdictOf(loop, number)[0])).length;
  const title = !several ? (DATA.loops[0]?.name || 'Nothing was judged') : `${red} of ${DATA.loops.length} loops with failures`;
  const cards = el('ul', { class: 'loops' }, DATA.loops.map(card));
  const key = el('ul', { class: 'key' }, LETTERS.map((letter) => el('li', {}, el('b', { class: letter }, GRADES[letter].mark), ` ${GRADES[letter].name}: ${GRADES[letter].says}`)));
  update();
  return [
    el('h1', { tabindex: '-1' }, several && !red ? `${DATA.loops.length} loops without a failure` : title,
      several && DATA.loops.some((loop) => loop.cutShort) && ', incomplete'),
    DATA.loops.length > MANY ? el('details', { class: 'fold' }, el('summary', {}, `The ${DATA.loops.length} loops, summed up`), cards) : cards,
    el('div', { class: 'tools' },
      choice('By', 'by', { clause: 'Clause', case: 'Case' }, state.by, (value) => { state.by = value; update(); }),
      choice('Show', 'way', ways, state.way, (value) => { state.way = value; update(); }),
      find, told),
    frame,
    key,
  ];
}
