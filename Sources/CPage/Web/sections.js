// Rules, changes, messages and connections of an exchange; the environment of the session.

function rules(data) {
  if (!data.trace || !data.trace.length) return null;
  const items = data.trace.map((entry) => make('li', { class: entry.outcome === 'fired' ? 'fired' : 'own' },
    make('span', { class: 'tool' }, entry.stage === 'sluice' ? 'Sluice' : visible(entry.stage)),
    entry.rule ? [' ', make('span', { class: 'rule' }, visible(entry.rule))] : null, ' ',
    make('span', {}, visible(entry.text))));
  return section('rules', 'Rules and remarks', make('ul', { class: 'trace' }, items));
}
function lines(rows) {
  return rows.map((row) => {
    const line = make('div', { class: 'line' });
    line.style.paddingLeft = Math.min(row[0], 40) + 'ch';
    for (let index = 1; index + 1 < row.length; index += 2) {
      line.append(make('span', { class: 'r-' + String(row[index + 1]).replace(/[^A-Za-z]/g, '') },
        ...visible(row[index])));
    }
    return line;
  });
}
function changes(data) {
  if (!data.difference) return null;
  return section('changes', 'Changes: as received, as sent', make('div', {
    class: 'lines', tabindex: '0', role: 'region', 'aria-label': 'Changes'
  }, lines(data.difference)),
  data.differenceCut ? make('p', { class: 'note' }, 'More changes are left out.') : null);
}
function call(data) {
  if (!data.call) return null;
  return section('call', 'gRPC', make('pre', { tabindex: '0', role: 'region', 'aria-label': 'gRPC call' },
    visible(data.call.join('\n'))),
  data.callCut ? make('p', { class: 'note' }, 'More lines are left out.') : null);
}
function said(message) {
  const parts = [];
  if (message.code != null) parts.push('code ' + message.code, message.reason);
  if (message.event && message.event !== 'message') parts.push('event ' + message.event);
  if (message.eventId) parts.push('id ' + message.eventId);
  if (message.retry != null) parts.push('retry ' + message.retry + ' ms');
  if (message.compressed) parts.push('compressed');
  if (message.frames > 1) parts.push(message.frames + ' frames');
  if (message.incomplete) parts.push('its end is missing');
  if (message.leftOut) parts.push(size(message.leftOut) + ' more are left out');
  return parts.concat(message.notes || []).filter(Boolean).join(', ');
}
function streamed(row, data) {
  if (!data.messages) return null;
  const start = Date.parse(row.startedAt);
  const body = make('tbody', {}, data.messages.map((message) => {
    const isSent = message.direction === 'send';
    const note = said(message);
    const content = message.text != null ? make('code', {}, visible(message.text))
      : message.base64 && message.code == null ? make('code', {}, hexadecimal(message.base64)) : null;
    return make('tr', { class: isSent ? 'sent' : 'got' },
      make('td', { class: 'number' }, message.time
        ? time(Math.max(0, Date.parse(message.time) - start)) : '–'),
      make('td', {}, make('span', { 'aria-hidden': 'true' }, isSent ? '→ ' : '← '),
        isSent ? 'to server' : 'to client'),
      make('td', {}, visible(message.kind)), make('td', { class: 'number' }, size(message.size)),
      make('td', { class: 'content' }, content, note ? make('div', { class: 'faint' }, visible(note)) : null));
  }));
  const titles = ['After', 'Direction', 'Kind', 'Size', 'Content'];
  const more = data.messagesLeftOut;
  return section('messages', 'Messages', make('table', { class: 'messages' },
    make('caption', { class: 'vh' }, 'Messages'),
    make('thead', {}, make('tr', {}, titles.map((title) => make('th', { scope: 'col' }, title)))), body),
  data.messages.length ? null : make('p', { class: 'faint' }, 'None.'),
  data.messagesComment ? make('p', { class: 'note' }, visible(data.messagesComment)) : null,
  more ? make('p', { class: 'note' }, (more > 0 ? plural(more, 'more message') : 'More messages') +
    ' left out. The export as json has all of them.') : null);
}
function connection(title, leg, more, row) {
  if (!leg) return null;
  // An archive has no address of ours, and does not say how the server was reached.
  const isUnknown = row && !leg.localAddress && /^(https|wss):/.test(row.url);
  const withoutTLS = isUnknown ? 'unknown: imported' : 'none: plain text';
  const tls = leg.tls;
  const certificates = ((tls && tls.certificates) || []).map((certificate) => make('details', {},
    make('summary', {}, 'Certificate ', ...visible(certificate.subject)), factList([
      ['Issued by', certificate.issuer],
      ['Valid', moment(certificate.notBefore) + ' to ' + moment(certificate.notAfter)],
      ['Names', certificate.alternativeNames.slice(0, 50).join(', ')],
      ['OCSP staple', certificate.staple && [certificate.staple.state, certificate.staple.reason]
        .filter(Boolean).join(': ')], ['SHA-256', certificate.sha256]])));
  const asked = tls && tls.clientCertificate;
  return make('div', { class: 'block' }, make('h4', {}, title), factList([
    ['Address', leg.peerAddress + (leg.proxy ? ' (the proxy’s)' : '') + (leg.localAddress ? ', here ' + leg.localAddress : '')],
    ['Through proxy', leg.proxy],
    ['Connection', leg.connection + more], ['Opened', moment(leg.openedAt)],
    ['TLS', tls ? tls.protocol + ', ' + tls.cipher + (tls.resumed ? ', resumed' : '') : withoutTLS],
    ['ALPN', tls && tls.applicationProtocol], ['Server name', tls && tls.serverName],
    ['Client certificate', asked && (asked.sent
      ? (asked.resumed ? 'known from the resumed session: ' : 'asked for, sent ') + asked.sent.subject
      : 'asked for' + (asked.resumed ? ' when the resumed session was made' : '') + ', none sent')],
    ['Not verified', tls && tls.verificationFailure]]), certificates);
}
function connections(row, data) {
  const isReused = row.flags.includes('upstream-reused');
  return section('connections', 'Connections', connection('Client', data.client, ''),
    connection('Server', data.upstream, isReused ? ', reused' : ', made for this exchange', row),
    data.upstream ? null : make('p', { class: 'faint' }, data.withoutServer));
}

function environment() {
  const runs = facts.runs.map((run) => make('div', {}, moment(run.startedAt) + ' to ' +
    (run.endedAt ? moment(run.endedAt) : '–') + ', by Sluice ' + run.version));
  const from = all.length ? Math.min(...ends((row) => row.at)) : 0;
  const to = all.length ? Math.max(...ends((row) => row.at + row.span * 1000)) : 0;
  const masked = !facts.isMasked
    ? 'Nothing: secrets are as they were recorded. Handle the page like a password.'
    : totals.secrets ? plural(totals.secrets, 'secret') + ' in ' + plural(totals.places, 'place') +
      '. The same secret has the same placeholder everywhere.' : 'No secrets were found.';
  const placeholders = (totals.placeholders || []).map((entry) => ({
    name: entry.text, value: (entry.name || 'a value') + (entry.host ? ', first at ' + entry.host : '')
  }));
  find('about-content').replaceChildren(factList([
    ['Session', facts.name], ['Exchanges', grouped(all.length)],
    ['Time', all.length ? moment(new Date(from / 1000)) + ' to ' + moment(new Date(to / 1000)) : ''],
    ['Recorded', runs], ['Exported by', 'Sluice ' + facts.version + ' on ' + facts.system],
    ...facts.labels.map((label) => [label.name, label.value]), ['Masked', masked],
    ['Look like secrets', totals.suspects ? plural(totals.suspects, 'text') + ', not masked' : ''],
    ['Left out', totals.remark || 'nothing']
  ]), table('Placeholders', placeholders, null, 'h3') || '', ...profiles());
}
function ends(value) {
  return [all.reduce((best, row) => Math.min(best, value(row)), Infinity),
    all.reduce((best, row) => Math.max(best, value(row)), -Infinity)];
}
function profiles() {
  const sets = facts.rules.slice().reverse();
  const title = make('h3', {}, 'Rules');
  if (!sets.length) return [title, make('p', {}, 'The session does not say which were in force.')];
  const blocks = sets.map((set, index) => {
    const name = (index === 0 ? 'In force at the end, since ' : 'Before, since ') + moment(set.at);
    const files = set.files.map((file) => make('div', { class: 'block' },
      make('h4', {}, visible(file.name), file.unsaved ? ' (not saved)' : '',
        file.cut ? ' (its beginning)' : ''),
      make('pre', { tabindex: '0' }, make('code', {}, visible(file.text)))));
    return make('details', { open: index === 0 }, make('summary', {}, name),
      set.off.length ? make('p', {}, 'Switched off: ', ...visible(set.off.join(', '))) : null,
      files.length ? files : make('p', {}, 'No profile.'));
  });
  const earlier = facts.earlierRules ? [make('p', { class: 'faint' }, plural(facts.earlierRules, 'earlier set')
    + ' of rules left out.')] : [];
  return [title, ...blocks, ...earlier];
}
