// What each key of the language is compared with.

const authority = (row) => row.host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
const scheme = (row) => (/^[a-z]+/.exec(row.url) || [''])[0];
const address = (leg) => (value) => {
  const pattern = matcher(value);
  return (row, get) => {
    const found = (get()[leg] || {}).peerAddress || '';
    return pattern.test(found) || pattern.test(found.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  };
};
const versions = { h1: /1\.[01]$/, 1: /1\.[01]$/, '1.0': /1\.0$/, 1.1: /1\.1$/, h2: /2$/, 2: /2$/, h3: /3$/, 3: /3$/ };
function instant(value) {
  const found = Date.parse(/^\d{4}-\d\d-\d\d$/.test(value.plain) ? value.plain + 'T00:00' : value.plain);
  if (!/^\d{4}-\d\d-\d\d/.test(value.plain) || isNaN(found)) {
    refuse('a page knows no time of day and no now: write a date, as 2026-11-21T14:30:00Z');
  }
  return found * 1000;
}
const fields = (sides) => (value) => {
  const colon = value.expression == null ? value.plain.indexOf(':', 1) : value.plain.length - 1;
  const name = value.parts.slice(0, colon < 0 ? undefined : colon).join('');
  const names = new RegExp(name ? '^' + name + '$' : '', 'iu');
  const rest = colon < 0 ? [] : value.parts.slice(colon + 1);
  while (/^\s/.test(rest[0])) rest.shift();
  const pattern = value.expression != null ? matcher(value)
    : matcher({ pattern: rest.join(''), hasStar: rest.includes('[^]*') }, false, true);
  return hasField(sides, names, pattern);
};
const hasField = (sides, names, pattern) => (row, get) => sides.some((side) => {
  const message = get()[side] || {};
  return [(message.received || {}).headers, (message.sent || {}).headers, message.trailers].some((list) =>
    (list || []).some((field) => names.test(field.name) && pattern.test(field.value)));
});
const contents = (sides) => (value) => {
  const pattern = value.expression != null ? matcher(value) : new RegExp(escaped(value.plain), 'iu');
  return (row, get) => sides.some((side) => {
    const message = get()[side] || {};
    const way = side === 'request' ? 'send' : 'receive';
    return [message.body, message.bodySent].some((part) => part && part.text != null && pattern.test(part.text))
      || (get().messages || []).some((one) => one.direction === way && one.text != null && pattern.test(one.text));
  });
};
const failed = (row) => row.state === 'failed' || Boolean(row.failure);
function property(value) {
  const name = value.plain.toLowerCase();
  if (name === 'masked') return (row) => Boolean(row.isMasked);
  const [what, ...names] = own(facts.filter.facts, name) || refuse('is: cannot be ' + name);
  return {
    flags: (row) => row.flags.some((flag) => names.includes(flag)), state: (row) => names.includes(row.state),
    kind: (row) => names.includes(row.kind), failure: (row) => Boolean(row.failure) && names.includes(row.failure.code),
    commented: (row) => row.comment != null, imported: (row) => Boolean(row.isImported), failed,
    error: (row) => Boolean(row.isError),
    grpc: (row) => row.flags.includes('grpc') || Boolean(row.grpc) || row.mediaType.startsWith('application/grpc')
  }[what];
}
const languageKeys = {
  host: (value) => {
    const plain = text(authority)(value);
    let other = '';
    try { other = value.isWild || value.expression ? '' : new URL('http://' + value.plain).hostname; } catch (error) { other = ''; }
    return (row, get) => plain(row, get) || other !== '' && authority(row).toLowerCase() === other;
  },
  path: text((row) => row.path.split('?')[0], true),
  query: text((row) => row.path.split('?').slice(1).join('?'), true, true),
  url: text((row) => row.url, false, true),
  scheme: text(scheme),
  port: number((row) => Number((/:(\d+)$/.exec(row.host) || [])[1]
    || { https: 443, wss: 443 }[scheme(row)] || 80)),
  method: text((row) => row.method),
  status: (value) => number((row) => row.status, null, 1)(/^[1-9]xx$/i.test(value.plain)
    ? { plain: value.plain[0] + '00..' + value.plain[0] + '99' } : value),
  grpc: (value) => {
    if (value.plain === '*') return (row) => Boolean(row.grpc);
    const letters = (name) => (name || '').toLowerCase().replace(/[_-]/g, '');
    return /^[a-z]/i.test(value.plain) ? (row) => Boolean(row.grpc) && letters(row.grpc.name) === letters(value.plain)
      : number((row) => row.grpc ? row.grpc.status : null)(value);
  },
  type: (value) => {
    if (value.isWild || value.plain.includes('/')) return text((row) => row.mediaType)(value);
    const part = value.plain.toLowerCase() === 'js' ? 'javascript' : value.plain;
    const pattern = new RegExp('(?<![a-z0-9])' + escaped(part) + '(?![a-z0-9])', 'iu');
    return (row) => pattern.test(row.mediaType);
  },
  size: number(responseSize, bytes),
  time: number((row) => row.timings.total, lengths),
  messages: number((row) => row.tally ? row.tally.fromClient + row.tally.fromServer : 0),
  id: number((row) => row.id),
  ip: address('upstream'), client: address('client'),
  process: (value) => /^[\d<>]/.test(value.plain) ? number((row) => row.process ? row.process.id : null)(value)
    : text((row) => row.process && row.process.name)(value),
  mode: (value) => text((row) => row.mode || 'regular')(value.plain.toLowerCase() === 'reverse'
    ? { pattern: 'reverse:[^]*' } : value),
  version: (value) => {
    const pattern = own(versions, value.plain.toLowerCase().replace(/^http\//, '')) || refuse('write h1, h2, h3, 1.0 or 1.1');
    return (row) => pattern.test(row.clientVersion) || pattern.test(row.upstreamVersion || '');
  },
  since: (value) => { const at = instant(value); return (row) => row.at >= at; },
  before: (value) => { const at = instant(value); return (row) => row.at < at; },
  header: fields(['request', 'response']), reqheader: fields(['request']), resheader: fields(['response']),
  'trace-id': (value) => {
    if (!/^[0-9a-f*?]{1,32}$/i.test(value.plain)) refuse('a trace id has up to 32 hexadecimal digits');
    const end = value.plain.length === 32 || value.hasStar ? '' : '[^]*';
    return hasField(['request'], /^traceparent$/i, new RegExp('^..-' + value.pattern + end + '-', 'iu'));
  },
  comment: text((row) => row.comment, false, true), colour: text((row) => row.colour),
  body: contents(['request', 'response']), reqbody: contents(['request']), resbody: contents(['response']),
  is: property,
  // A page has neither places nor recordings.
  graphql: null, session: null, label: null
};
