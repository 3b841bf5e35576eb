// A run: what is broken, how to run it again, and what happened.

function copyButton(text) {
  const button = el('button', { type: 'button', click: async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = el('textarea', { readonly: true }, text);
      button.after(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'Select and copy it';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  } }, 'Copy');
  button.setAttribute('aria-live', 'polite');
  return button;
}

function showIn(timeline, clause) {
  const item = timeline.querySelector(`[data-clauses~="${CSS.escape(clause)}"]`);
  return item && el('button', { type: 'button', class: 'show small', click: () => {
    timeline.querySelectorAll('.shown').forEach((other) => other.classList.remove('shown'));
    item.classList.add('shown');
    item.setAttribute('tabindex', '-1');
    item.scrollIntoView({ block: 'center' });
    item.focus({ preventScroll: true });
  } }, 'Show where');
}

function checkCard(check, timeline, open) {
  const clause = DATA.clauses.find((each) => each.id === check.clause) || {};
  const letter = letterOf(check.grade);
  const where = [check.where, check.turn && `turn ${check.turn + 1}`, check.request && `request ${check.request}`,
    check.block !== undefined && check.block !== null && `block ${check.block}`].filter(Boolean).join(', ');
  const rows = [
    ['clause', [el('a', { href: clauseAddress(check.clause) }, check.clause), ` (${check.level}): `, prose(clause.sentence)]],
    ['ground', clause.source && linkTo(clause.source)],
    ['where', [where, ' ', showIn(timeline, check.clause)]],
    ['expected', check.expected && prose(check.expected)],
    ['happened', check.happened !== check.message && check.happened && prose(check.happened)],
    ['difference', check.diff && diffOf(check.diff)],
    ['advice', check.advice && prose(check.advice)],
  ];
  return el('details', { class: `card ${letter}`, open },
    el('summary', {}, el('h2', {}, badge(letter), el('span', {}, check.clause), el('span', {}, prose(check.message)))),
    el('dl', {}, rows.filter(([, text]) => text).map(([label, text]) => [el('dt', {}, label), el('dd', {}, text)])));
}

function neighbours(loop, place) {
  const bad = loop.results.map((result, at) => [result, at]).filter(([result]) => isBad(letterOf(result[1])));
  const before = bad.filter(([, at]) => at < place).pop();
  const after = bad.find(([, at]) => at > place);
  return [
    before && el('a', { href: runAddress(loop, before[0][0]) }, '‹ Failure before'),
    after && el('a', { href: runAddress(loop, after[0][0]) }, 'Next failure ›'),
  ];
}

function lettersList(letters, wanted) {
  const found = DATA.clauses.filter((_, number) => letters[number] === wanted);
  return found.length > 0 && el('details', { class: 'fold' }, el('summary', {}, badge(wanted), ` ${counted(found.length, 'clause')}`),
    el('ul', { class: 'cases' }, found.map((clause) => el('li', {}, el('a', { href: clauseAddress(clause.id) }, clause.id), ' ', prose(clause.sentence)))));
}

function runView(id, name) {
  const loop = DATA.loops.find((each) => each.name === name);
  const place = loop ? loop.results.findIndex((result) => result[0] === id) : -1;
  const details = place >= 0 && detailsOf(loop, place);
  if (!details) return null;
  const [, grade, took, letters] = loop.results[place];
  const timeline = el('section', { 'aria-label': 'What happened' }, details.timeline.length ? timelineOf(details)
    : el('p', { class: 'soft' }, details.spared ? 'Left out to keep this page small, since the run passed; the line above runs it again.' : 'Nothing is stored of it; the line above runs it again.'));
  const telling = details.checks.filter((check) => check.grade !== 'inconclusive');
  const rank = (check) => LETTERS.indexOf(letterOf(check.grade)) * 2 + (check.clause === 'EXPECT' ? 1 : 0);
  telling.sort((one, other) => rank(one) - rank(other));
  return [
    el('nav', { class: 'back', 'aria-label': 'Back' }, el('a', { href: '#' }, '← All results'), neighbours(loop, place)),
    el('h1', { tabindex: '-1' }, id, ' ', badge(letterOf(grade))),
    el('p', { class: 'soft' }, several || loop.recorded ? `${loop.name}, ` : '', loop.recorded ? 'recorded' : `${took.toFixed(2)} s, seed ${loop.seed}`),
    details.reason && el('pre', { class: 'card' }, details.reason),
    telling.map((check, at) => checkCard(check, timeline, at === 0)),
    el('h2', {}, 'Run it again'),
    el('div', { class: 'again' }, el('pre', { tabindex: '0' }, details.again), copyButton(details.again)),
    details.history && details.history !== id && el('p', { class: 'soft small' }, 'history: ', el('code', {}, details.history)),
    el('h2', {}, 'What happened'),
    timeline,
    el('h2', {}, 'The other clauses'),
    ['p', 'i', 'u'].map((letter) => lettersList(letters, letter)),
  ];
}
