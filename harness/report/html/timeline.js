// What happened: the loop on the left, the provider on the right, tools and hooks between.

const seconds = (value) => `${value.toFixed(3)} s`;

/** What is broken here, each with its message; a difference that several tell is shown once. */
function flags(checks, marks) {
  const found = marks.map((mark) => checks.find((check) => check.clause === mark.clause)).filter(Boolean);
  const diffs = [...new Set(found.map((check) => check.diff).filter(Boolean))];
  return [
    found.map((check) => el('p', { class: 'flag' }, `${GRADES[letterOf(check.grade)].mark} `, el('a', { href: clauseAddress(check.clause) }, check.clause), ' ', prose(check.message))),
    diffs.map(diffOf),
  ].flat();
}

function messageOf(message, marks, checks) {
  const hits = marks.filter((mark) => mark.spot[0] === message.place);
  const blocks = Array.isArray(message.blocks) ? message.blocks : [message.blocks];
  const inner = blocks.map((block, place) => {
    const here = hits.filter((mark) => mark.spot[1] === place);
    const made = blockOf(block);
    if (here.length) {
      made.classList.add('hit');
      made.append(...flags(checks, here));
    }
    return made;
  });
  const role = el('span', { class: 'role' }, message.role, message.reply && `, reply ${message.reply} as it came`);
  if (message.reply && !hits.length) {
    return el('details', { class: 'message' }, el('summary', {}, role), inner);
  }
  return el('div', { class: 'message' }, role, blocks.length ? inner : el('p', { class: 'soft' }, 'no content'));
}

function settingsOf(settings) {
  const names = Object.keys(settings).map((name) => (settings[name] === null ? `no ${name}` : name));
  return el('details', { class: 'small' }, el('summary', { class: 'soft' }, names.join(', ')), el('pre', {}, pretty(settings)));
}

function requestOf(entry, checks) {
  const marks = entry.broken || [];
  const fresh = (entry.count || 0) - (entry.same || 0);
  return [
    el('header', {}, el('b', {}, entry.name),
      entry.where ? el('code', {}, entry.where) : el('span', { class: 'soft' }, counted(entry.count || 0, 'message'), entry.same ? `, ${fresh} new` : ''),
      entry.side && el('span', { class: 'chip' }, entry.side),
      entry.retry && el('span', { class: 'chip' }, `retry ${entry.retry}`),
      entry.again && el('span', { class: 'chip' }, `the same as request ${entry.again}`)),
    entry.settings && settingsOf(entry.settings),
    flags(checks, marks.filter((mark) => !mark.spot)),
    (entry.messages || []).map((message) => messageOf(message, marks.filter((mark) => mark.spot), checks)),
  ];
}

function answerOf(entry) {
  return [
    el('header', {}, el('b', {}, entry.name),
      entry.stop ? el('span', { class: 'chip' }, entry.stop) : el('span', { class: `badge ${entry.status === 200 ? 'u' : 'w'}` }, entry.status || 'no answer'),
      entry.stream && el('span', { class: 'soft small' }, 'streamed'),
      entry.took !== undefined && el('span', { class: 'soft small' }, `took ${seconds(entry.took)}`)),
    entry.after && el('p', { class: 'small' }, `retry-after: ${entry.after}`),
    entry.text && el('p', {}, entry.text),
    entry.blocks && (entry.blocks.length ? entry.blocks.map(blockOf) : el('p', { class: 'soft' }, 'no content')),
    entry.cut && el('p', {}, el('span', { class: 'badge w' }, entry.cut)),
  ];
}

function toolOf(entry) {
  const ended = entry.error !== undefined ? [el('span', { class: 'badge w' }, 'raised'), ' ', pretty(entry.error)]
    : entry.result !== undefined ? [el('span', { class: 'unseen' }, 'returned '), '→ ', el('code', {}, pretty(entry.result))] : el('em', {}, 'did not end');
  return el('div', {}, el('b', {}, entry.name), el('code', {}, ` ${JSON.stringify(entry.input)} `), ended,
    entry.took !== undefined && el('span', { class: 'soft small' }, ` took ${seconds(entry.took)}`));
}

function outcomeOf(entry, checks) {
  const shown = entry.shown || [];
  return [
    el('header', {}, el('b', {}, 'outcome'), entry.status && el('span', { class: 'chip' }, entry.status), entry.raised && el('span', { class: 'badge w' }, 'raised')),
    entry.raised && el('pre', {}, entry.raised),
    flags(checks, entry.broken || []),
    shown.length > 0 && el('p', { class: 'label' }, 'shown'),
    shown.map((item) => el('div', { class: 'block' }, el('div', { class: 'said' }, (typeof item === 'string' ? item : pretty(item)) || el('em', {}, 'an empty text')))),
    entry.detail && el('p', { class: 'soft' }, entry.detail),
  ];
}

const ENTRIES = {
  request: requestOf,
  answer: answerOf,
  outcome: outcomeOf,
  tool: toolOf,
  turn: (entry) => el('div', {}, el('b', {}, entry.name), ' ', entry.text),
  event: (entry) => el('div', {}, el('b', {}, entry.name), ' ', entry.text),
  left: (entry) => el('em', {}, `${entry.count} more are left out here`),
};

function timelineOf(details) {
  const list = el('ol', { class: 'timeline' });
  for (const entry of details.timeline) {
    const hurt = entry.broken?.length ? ' hurt' : '';
    const item = el('li', { class: `${entry.lane} ${entry.kind}${hurt}` }, el('time', {}, entry.at.toFixed(3)),
      el('div', { class: 'entry' }, ENTRIES[entry.kind](entry, details.checks)));
    (entry.broken || []).forEach((mark) => { item.dataset.clauses = `${item.dataset.clauses || ''} ${mark.clause} `; });
    list.append(item);
  }
  return [
    el('div', { class: 'sides', 'aria-hidden': 'true' }, el('span', {}), el('span', {}, 'The loop sent'), el('span', {}, 'The provider answered')),
    list,
  ];
}
