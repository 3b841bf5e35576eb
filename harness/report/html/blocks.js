// Content blocks as a person reads them.

const pretty = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function labelOf(block, more) {
  return el('p', { class: 'label' }, el('b', {}, block.type || 'block'), more && [' ', more]);
}

function blockOf(block) {
  if (typeof block !== 'object' || block === null) return el('div', { class: 'block' }, el('pre', {}, pretty(block)));
  const { type, id, name, input, text, thinking, signature, content, tool_use_id: answers, is_error: failed, ...rest } = block;
  if (rest.caller?.type === 'direct') delete rest.caller;
  const others = Object.keys(rest).filter((key) => rest[key] !== null).length ? el('pre', {}, pretty(rest)) : null;
  if (type === 'text') {
    return el('div', { class: 'block' }, el('div', { class: 'said' }, text || el('em', {}, text === '' ? 'an empty text' : 'no text')), others);
  }
  if (type === 'thinking') {
    return el('div', { class: 'block thinking' }, labelOf(block, signature ? `signed ${signature}` : 'without a signature'), el('div', { class: 'said' }, thinking || el('em', {}, 'empty')), others);
  }
  if (input !== undefined && name !== undefined) {
    return el('div', { class: 'block' }, labelOf(block, [el('b', {}, name), ` ${id || ''}`]), el('pre', {}, pretty(input)), others);
  }
  if (answers !== undefined) {
    return el('div', { class: 'block' }, labelOf(block, [`for ${answers}`, failed && [' ', el('span', { class: 'badge w' }, 'is_error')]]),
      Array.isArray(content) ? el('div', { class: 'inner' }, content.length ? content.map(blockOf) : el('em', { class: 'soft' }, 'empty'))
        : el('pre', {}, content === undefined ? 'no content' : pretty(content)), others);
  }
  const { type: _, ...all } = block;
  return el('div', { class: 'block' }, labelOf(block), Object.keys(all).length ? el('pre', {}, pretty(all)) : null);
}
