// The details of an exchange, built when they are opened.

const panel = find('details');

function factList(pairs) {
  const list = make('dl', {});
  for (const [name, value] of pairs) {
    if (value == null || value === '' || (Array.isArray(value) && !value.length)) continue;
    list.append(make('dt', {}, name), make('dd', {}, value instanceof Node || Array.isArray(value) ? value
      : visible(value)));
  }
  return list;
}
function table(title, pairs, columns, level) {
  if (!pairs || !pairs.length) return null;
  const names = columns || [['name', 'Name'], ['value', 'Value']];
  return make('div', { class: 'block' }, make(level || 'h4', {}, title + ' ', make('span', { class: 'faint' },
    '(' + grouped(pairs.length) + ')')),
  make('table', {}, make('caption', { class: 'vh' }, title),
    make('thead', { class: 'vh' }, make('tr', {}, names.map((name) => make('th', { scope: 'col' }, name[1])))),
    make('tbody', {}, pairs.map((pair) => make('tr', {}, names.map(([key], index) => index === 0
      ? make('th', { scope: 'row' }, visible(pair[key])) : make('td', {}, visible(pair[key]))))))));
}
function section(id, title, ...content) {
  const filled = content.flat().filter((item) => item != null && item !== '');
  if (!filled.length) return null;
  return make('section', { id: 'part-' + id, 'aria-labelledby': 'title-' + id },
    make('h3', { id: 'title-' + id, tabindex: '-1' }, title), filled);
}
function startLine(head, isRequest) {
  if (!head) return null;
  const text = isRequest ? head.method + ' ' + head.target + ' ' + head.httpVersion
    : head.httpVersion + ' ' + head.status + (head.reason ? ' ' + head.reason : '');
  return make('p', { class: 'start' }, visible(text));
}
// The other version of a message, where a rule or the proxy made one.
function otherHead(title, head, isRequest) {
  if (!head) return null;
  return make('details', {}, make('summary', {}, title), startLine(head, isRequest),
    table('Headers', head.headers));
}

// What came of it, and who answered: the first thing to be read.
function result(row, data) {
  const [status, tone] = outcome(row);
  const failure = row.failure
    ? [make('strong', { class: 'tone-bad' }, row.failure.code), ': ', ...visible(row.failure.message)] : null;
  const states = {
    'in-flight': 'in flight: something was still to come when the page was made', complete: 'complete',
    failed: 'failed', blocked: 'blocked by a rule',
    interrupted: 'interrupted: the recording ended before the exchange did'
  };
  return section('outcome', 'Outcome', factList([
    ['Status', row.status ? [make('strong', { class: 'tone-' + tone }, status), ' ', ...visible(data.reason)]
      : ''],
    ['Answered by', data.answeredBy], ['Failure', failure],
    ['What to try', row.failure && row.failure.hint],
    ['gRPC status', row.grpc && row.grpc.status + ' ' + (row.grpc.name || '') +
      (row.grpc.message ? ': ' + row.grpc.message : '')],
    ['State', row.state === 'complete' ? '' : states[row.state] || row.state], ['Comment', row.comment],
    ['Took', row.timings.total == null ? 'not ended' : time(row.timings.total)]
  ]));
}
function overview(row, data) {
  const sum = (head, part, wire) => 'head ' + size(head) + ', body ' + size(part) + ', ' + size(wire) +
    ' on the wire';
  const tally = row.tally && plural(row.tally.fromClient, 'message') + ' from the client, ' +
    grouped(row.tally.fromServer) + ' from the server';
  return section('overview', 'Overview', factList([
    ['Kind', data.kindText], ['URL', row.url], ['Sent to', row.sentUrl],
    ['Messages', tally], ['Started', moment(row.startedAt)],
    ['Version', row.clientVersion + (row.upstreamVersion ? ', to the server ' + row.upstreamVersion : '')],
    ['Media type', row.mediaType],
    ['Request', sum(row.sizes.requestHead, row.sizes.requestBody, row.sizes.requestWire)],
    ['Response', sum(row.sizes.responseHead, row.sizes.responseBody, row.sizes.responseWire)],
    ['Process', row.process && row.process.name + ' (' + row.process.id + ')'],
    ['Mode', row.mode], ['Imported from', data.origin], ['Colour', row.colour],
    ['Masked', data.masked && data.masked.join(', ')],
    ['Remarks', (data.remarks || []).map((remark) => make('div', {}, visible(remark)))]
  ]));
}
function timing(row) {
  const parts = phases.filter(([name]) => row.timings[name] != null);
  if (!parts.length && row.timings.total == null) return null;
  const sum = parts.reduce((sum, [name]) => sum + row.timings[name], 0);
  const whole = Math.max(row.timings.total || 0, sum, 0.001);
  let from = 0;
  const lines = parts.map(([name, title]) => {
    const piece = make('i', { class: 'ph-' + name });
    piece.style.left = (from / whole * 100).toFixed(2) + '%';
    piece.style.width = Math.max(0.4, row.timings[name] / whole * 100).toFixed(2) + '%';
    from += Math.max(0, row.timings[name]);
    return make('tr', {}, make('th', { scope: 'row' }, title), make('td', { class: 'number' },
      time(row.timings[name])), make('td', { class: 'lane', 'aria-hidden': 'true' }, piece));
  });
  lines.push(make('tr', { class: 'sum' }, make('th', { scope: 'row' }, 'In all'),
    make('td', { class: 'number' }, row.timings.total == null ? 'not ended' : time(row.timings.total)),
    make('td', { 'aria-hidden': 'true' })));
  return section('timing', 'Timing', make('table', { class: 'timing' },
    make('caption', { class: 'vh' }, 'Timing'), make('tbody', {}, lines)));
}
function request(row, data) {
  const message = data.request;
  return section('request', 'Request', startLine(message.received, true), table('Query', message.query),
    table('Headers', message.received && message.received.headers), table('Cookies', message.cookies),
    table('Form', message.form), body('Request body', message.body),
    body('Request body, as sent', message.bodySent), table('Trailers', message.trailers),
    otherHead('Request, as sent to the server', message.sent, true));
}
function response(row, data) {
  const message = data.response;
  const head = message.received;
  return section('response', 'Response', message.interim ? make('div', { class: 'block' },
    make('h4', {}, 'Interim responses'), make('pre', { tabindex: '0' }, visible(message.interim))) : null,
  startLine(head, false), body('Response body', message.body), body('Response body, as sent', message.bodySent),
  table('Headers', head && head.headers),
  table('Cookies', message.cookies, [['name', 'Name'], ['value', 'Value'], ['attributes', 'Attributes']]),
  table('Trailers', message.trailers), otherHead('Response, as sent to the client', message.sent, false));
}

function detailsOf(row) {
  const text = sources[row.index].textContent;
  return JSON.parse(text.slice(text.indexOf('\n') + 1));
}
function open(row, isFocused) {
  const data = detailsOf(row);
  const before = opened;
  opened = row;
  for (const [index, element] of drawn) element.classList.toggle('open', shown[index] === row);
  const [status, tone] = outcome(row);
  const heading = make('h2', { id: 'detail-title', tabindex: '-1' },
    make('span', { class: 'faint' }, '#' + row.id), ' ',
    make('span', { class: 'method' }, visible(row.method)), ' ',
    make('span', { class: 'tone-' + tone }, status), ' ', make('span', { class: 'url' }, visible(row.url)));
  // What only the proxy changed, as proxies must, says least.
  const isRuled = row.sentUrl || row.flags.includes('request-changed') || row.flags.includes('response-changed');
  const parts = [result(row, data), streamed(row, data), call(data), response(row, data), rules(data),
    isRuled && changes(data), request(row, data), timing(row), !isRuled && changes(data), overview(row, data),
    connections(row, data)].filter(Boolean);
  const jumps = make('nav', { 'aria-label': 'Parts of the exchange' }, parts.map((part) => make('button', {
    click: () => {
      part.scrollIntoView();
      part.querySelector('h3').focus({ preventScroll: true });
    }
  }, part.querySelector('h3').textContent)));
  panel.replaceChildren(make('div', { class: 'detail-head' }, heading, make('div', { class: 'buttons' },
    make('button', { click: () => step(-1), title: 'k' }, 'Previous'),
    make('button', { click: () => step(1), title: 'j' }, 'Next'),
    make('button', { click: (event) => copy(row.url, event.target) }, 'Copy URL'),
    data.curl && make('button', { click: (event) => copy(data.curl, event.target) }, 'Copy as cURL'),
    make('button', { click: close, title: 'Escape' }, 'Close')), jumps), ...parts);
  panel.hidden = false;
  document.body.classList.add('has-details');
  panel.scrollTop = 0;
  if (before !== row && location.hash !== '#' + row.id) history.replaceState(null, '', '#' + row.id);
  if (isFocused) heading.focus({ preventScroll: true });
  if (!before) select(row, true);
}
function step(steps) {
  const isInside = panel.contains(document.activeElement);
  move(steps);
  if (isInside && opened) find('detail-title').focus({ preventScroll: true });
}
function close() {
  if (!opened) return;
  opened = null;
  for (const element of drawn.values()) element.classList.remove('open');
  panel.hidden = true;
  panel.replaceChildren();
  document.body.classList.remove('has-details');
  history.replaceState(null, '', location.pathname + location.search);
  refresh(false);
  grid.focus();
}
