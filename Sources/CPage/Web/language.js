// The language of filters, as Sluice reads it, over the members of an exchange that the page has.

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|\/]/g, '\\$&');
const own = (map, key) => Object.hasOwn(map, key) ? map[key] : undefined;
function refuse(message) { throw new Error(message); }

// A value: its text, the pattern that its wildcards make, and the regular expression between slashes.
function readValue(text, at, key) {
  const value = { plain: '', pattern: '', parts: [], hasStar: false, isQuoted: false };
  const add = (sign, isLiteral) => {
    value.plain += sign;
    const isWild = !isLiteral && (sign === '*' || sign === '?');
    value.hasStar = value.hasStar || isWild && sign === '*';
    value.isWild = value.isWild || isWild;
    value.parts.push(isWild ? (sign === '*' ? '[^]*' : '[^]') : escaped(sign));
    value.pattern += value.parts[value.parts.length - 1];
  };
  const isPath = /^(path|url|query)$/.test(key);
  const forms = isPath || /^(host|scheme|method|mode|colour|process)$/.test(key) ? /\/((?:\\[^]|[^\/\s\\])+)\/(?=[\s,()]|$)/y
    : /(body|header)$/.test(key) ? /\/((?:\\[^]|[^\/\\])+)\/(?=[\s,()]|$)/y : null;
  while (at < text.length) {
    const sign = text[at];
    const begins = !value.plain || /header$/.test(key) && /^[^:]+:$/.test(value.plain);
    if (forms && begins) {
      forms.lastIndex = at;
      const found = forms.exec(text);
      if (found && (!isPath || /[\\^$+()[\]{}|]|\.[*+?]/.test(found[1]))) {
        value.expression = found[1];
        return [value, at + found[0].length];
      }
    }
    if (/[\s()]/.test(sign) || key && sign === ',') break;
    if (sign === '"') {
      value.isQuoted = true;
      for (at += 1; text[at] !== '"'; at += 1) {
        if (at >= text.length) refuse('the quotation mark is not closed');
        if (text[at] !== '\\' || at + 1 >= text.length) { add(text[at], true); continue; }
        at += 1;
        add({ n: '\n', r: '\r', t: '\t' }[text[at]] || text[at], true);
      }
      at += 1;
    } else if (sign === '\\') {
      if (at + 1 >= text.length) refuse('\\ ends the filter; write \\\\ for a backslash');
      value.isQuoted = true;
      add(text[at + 1], true);
      at += 2;
    } else {
      add(sign, false);
      at += 1;
    }
  }
  return [value, at];
}
function tokensOf(text) {
  const found = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at])) { at += 1; continue; }
    const sign = { '(': 'open', ')': 'close', '!': 'not', '-': 'not' }[text[at]];
    if (sign) { found.push({ kind: sign }); at += 1; continue; }
    const key = /^([A-Za-z-]+):(?!\/\/)/.exec(text.slice(at, at + 40));
    if (!key) {
      const [value, end] = readValue(text, at, '');
      const operator = !value.isQuoted && /^(and|or|not|AND|OR|NOT)$/.test(value.plain);
      found.push(operator ? { kind: value.plain.toLowerCase() } : { kind: 'word', value });
      at = end;
      continue;
    }
    const name = key[1].toLowerCase();
    const values = [];
    at += key[0].length - 1;
    do {
      const [value, end] = readValue(text, at + 1, name);
      values.push(value);
      at = end;
    } while (text[at] === ',');
    found.push({ kind: 'term', key: name, values });
  }
  return found;
}
function compile(text) {
  const list = tokensOf(text);
  let at = 0;
  const kind = () => at < list.length ? list[at].kind : 'end';
  const joined = (parts, isAny) => parts.length === 1 ? parts[0] : {
    cost: Math.max(...parts.map((part) => part.cost)),
    parts: parts.sort((a, b) => a.cost - b.cost),
    test(row, get) {
      return isAny ? this.parts.some((part) => part.test(row, get)) : this.parts.every((part) => part.test(row, get));
    }
  };
  function any() {
    const parts = [every()];
    while (kind() === 'or') { at += 1; parts.push(every()); }
    return joined(parts, true);
  }
  function every() {
    const parts = [operand()];
    while (!['or', 'close', 'end'].includes(kind())) {
      if (kind() === 'and') at += 1;
      parts.push(operand());
    }
    return joined(parts, false);
  }
  function operand() {
    let isNot = false;
    for (; kind() === 'not'; at += 1) isNot = !isNot;
    const token = list[at];
    at += 1;
    let part;
    if (!token || ['and', 'or', 'close'].includes(token.kind)) refuse('a term is missing');
    else if (token.kind === 'open') {
      part = any();
      if (kind() !== 'close') refuse('the parenthesis is not closed');
      at += 1;
    } else part = token.kind === 'word' ? word(token.value) : term(token.key, token.values);
    return isNot ? { cost: part.cost, test: (row, get) => !part.test(row, get) } : part;
  }
  if (!list.length) return { cost: 0, test: () => true };
  const whole = any();
  if (at < list.length) refuse('this parenthesis closes none');
  return whole;
}
function word(value) {
  if (!value.plain) refuse('the search text is missing');
  if (!value.isQuoted && value.plain === 'error') return { cost: 0, test: (row) => Boolean(row.isError) };
  const compared = value.isQuoted ? null : /^([a-z]+)([<>]|=)(.*)$/i.exec(value.plain);
  if (compared && facts.filter.keys.includes(compared[1].toLowerCase())
    && (compared[2] !== '=' || /^(host|method|size|status)$/i.test(compared[1]))) {
    refuse('a colon is missing after ' + compared[1]);
  }
  const pattern = new RegExp(value.pattern, 'iu');
  return { cost: 0, test: (row) => pattern.test(row.url) };
}
function term(key, values) {
  if (!facts.filter.keys.includes(key)) refuse("'" + key + ":' is not a filter word");
  if (!languageKeys[key]) refuse('a page cannot know ' + key + ':');
  const tests = values.map((value) => {
    if (!value.plain && !value.expression) refuse('a value is missing for ' + key + ':');
    return languageKeys[key](value);
  });
  return {
    cost: /^(ip|client|trace-id)$|(body|header)$/.test(key) ? 1 : 0,
    test: (row, get) => tests.some((test) => test(row, get))
  };
}

// What values are compared with.
function matcher(value, isExact, isAnywhere) {
  const flags = isExact ? 'u' : 'iu';
  if (value.expression != null) {
    const own = /^\(\?(-?)i\)([^]*)/.exec(value.expression);
    try {
      return own ? new RegExp(own[2], own[1] ? 'u' : 'iu') : new RegExp(value.expression, flags);
    } catch (error) {
      return refuse('a page cannot read this regular expression');
    }
  }
  return new RegExp(isAnywhere && !value.hasStar ? value.pattern : '^' + value.pattern + '$', flags);
}
const text = (read, isExact, isAnywhere) => (value) => {
  const pattern = matcher(value, isExact, isAnywhere);
  return (row, get) => pattern.test(read(row, get) || '');
};
const bytes = { '': 1, b: 1, k: 1e3, kb: 1e3, kib: 1024, m: 1e6, mb: 1e6, mib: 1048576, g: 1e9, gb: 1e9, gib: 1073741824 };
const lengths = { '': 1, us: 1e-3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 36e5, d: 864e5 };
function amount(written, units, fallback) {
  const found = /^(\d{1,18}(?:\.\d{1,6})?)([a-z]*)$/i.exec(written);
  const factor = found && own(units, (found[2] || fallback || '').toLowerCase());
  if (!factor) refuse("'" + written + "' is not a number" + (units === bytes || units === lengths ? ' with its unit' : ''));
  return Number(found[1]) * factor;
}
function range(written, units, least) {
  const compared = /^(>=|<=|>|<)(.*)$/.exec(written);
  if (compared) {
    const limit = amount(compared[2], units);
    return { '>=': (n) => n >= limit, '<=': (n) => n >= least && n <= limit, '>': (n) => n > limit,
      '<': (n) => n >= least && n < limit }[compared[1]];
  }
  const dots = written.indexOf('..');
  if (dots < 0) {
    const exact = amount(written, units);
    if (units === lengths) refuse('an exact duration matches nothing: write time:>' + written);
    return (n) => n === exact;
  }
  const [first, last] = [written.slice(0, dots), written.slice(dots + 2)];
  const from = first ? amount(first, units, /[a-z]*$/i.exec(last)[0]) : least;
  const to = last ? amount(last, units) : Infinity;
  if (from > to) refuse("the range's start is after its end");
  return (n) => n >= from && n <= to;
}
const number = (read, units, least) => (value) => {
  const fits = range(value.plain, units || { '': 1 }, least || 0);
  return (row) => { const found = read(row); return found != null && fits(found); };
};
