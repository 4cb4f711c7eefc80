// The rows, of which those in sight exist.

const facts = json('facts');
const totals = json('totals');
const sources = Array.from(document.querySelectorAll('script.x'));
function firstLine(element) {
  // A parser may have split long text.
  const beginning = element.firstChild ? element.firstChild.data : '';
  const end = beginning.indexOf('\n');
  return end < 0 ? element.textContent.split('\n')[0] : beginning.slice(0, end);
}
const all = sources.map((element, index) => {
  const row = JSON.parse(firstLine(element));
  row.index = index;
  const total = row.timings.total;
  row.span = total != null ? total
    : phases.reduce((sum, [name]) => sum + Math.max(0, row.timings[name] || 0), 0);
  return row;
});
const byID = new Map(all.map((row) => [row.id, row]));
let shown = all;
let selected = null;
let opened = null;
// On a phone a row has two lines: the path, and the rest.
const isTall = () => grid.clientWidth <= 430;
let rowHeight = 28;
const grid = find('list');
const rows = find('rows');
const drawn = new Map();

function outcome(row) {
  if (row.failure && !row.status) return ['failed', 'bad'];
  if (row.grpc) return ['rpc' + row.grpc.status, row.grpc.status > 0 ? 'bad' : 'good'];
  if (row.status) {
    return [String(row.status),
      row.status < 300 ? 'good' : row.status < 400 ? 'away' : row.status < 500 ? 'poor' : 'bad'];
  }
  const words = {
    'in-flight': ['in flight', 'away'], failed: ['failed', 'bad'], blocked: ['denied', 'bad'],
    interrupted: ['cut', 'bad'], complete: ['–', 'none']
  };
  return words[row.state] || [row.state, 'none'];
}
// What is special about an exchange: a letter in the list, and the words for it.
function marks(row) {
  const found = [];
  const has = (flag) => row.flags.includes(flag);
  if (row.state === 'in-flight') found.push(['…', 'in flight']);
  if (row.state === 'blocked') found.push(['#', 'denied by a rule']);
  else if (has('request-changed') || has('response-changed') || row.sentUrl || has('local') && !row.failure) {
    found.push(['~', 'changed by a rule, or answered in place of the server']);
  }
  if (row.failure) found.push(['!', 'failed: ' + row.failure.code]);
  if (has('held')) found.push(['=', 'was held at a breakpoint']);
  if (row.grpc && row.grpc.status !== 0) found.push(['g', 'gRPC status ' + (row.grpc.name || row.grpc.status)]);
  if (row.comment) found.push(['“', 'comment: ' + plain(row.comment)]);
  return found;
}
function responseSize(row) {
  const hasBody = row.kind === 'http' || row.kind === 'websocket';
  return hasBody ? row.sizes.responseBody : row.sizes.responseWire;
}
function kind(row) {
  if (row.kind !== 'http') return row.kind;
  const type = row.mediaType || '';
  return type.slice(type.indexOf('/') + 1).replace(/^x-/, '');
}
function shownPath(row) {
  return row.kind === 'tunnel' || row.kind === 'decrypted-tunnel' ? '(' + row.kind + ')' : row.path || '/';
}

// Idle time, in which nothing shown was under way, is drawn short.
let axis = { starts: [0], places: [0], length: 1, isCut: false };
function layAxis() {
  const spans = shown.map((row) => [row.at, row.at + row.span * 1000]).sort((a, b) => a[0] - b[0]);
  const busy = [];
  for (const [from, to] of spans) {
    const last = busy[busy.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to); else busy.push([from, to]);
  }
  const work = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const most = Math.max(50000, work * 0.05);
  axis = { starts: [], places: [], length: 0, isCut: false };
  let end = null;
  for (const [from, to] of busy) {
    if (end != null) {
      axis.isCut = axis.isCut || from - end > most;
      axis.length += Math.min(from - end, most);
    }
    axis.starts.push(from);
    axis.places.push(axis.length);
    axis.length += to - from;
    end = to;
  }
  axis.length = axis.length || 1;
  axis.begin = busy.length ? busy[0][0] : 0;
  axis.end = end || axis.begin;
}
function place(at) {
  let low = 0;
  let high = axis.starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (axis.starts[middle] <= at) low = middle; else high = middle - 1;
  }
  return (axis.places[low] + at - axis.starts[low]) / axis.length;
}
function bar(row) {
  const frame = make('span', { class: 'bar' });
  const start = place(row.at);
  const width = row.span * 1000 / axis.length;
  frame.style.left = (start * 100).toFixed(3) + '%';
  frame.style.width = Math.max(0, Math.min(width, 1 - start) * 100).toFixed(3) + '%';
  for (const [name] of phases) {
    const part = row.timings[name];
    if (!(part > 0) || !(row.span > 0)) continue;
    const piece = make('i', { class: 'ph-' + name });
    piece.style.width = Math.min(100, part / row.span * 100).toFixed(2) + '%';
    frame.append(piece);
  }
  return frame;
}

function draw(row, place) {
  const [status, tone] = outcome(row);
  const signs = marks(row);
  const cell = (name, content, more) =>
    make('span', { role: 'gridcell', class: 'c-' + name, ...more }, content);
  const since = (row.at - axis.begin) / 1000;
  const when = 'after ' + time(Math.max(0, since)) + (row.timings.total == null ? ', no end recorded'
    : ', took ' + time(row.timings.total));
  const element = make('div', {
    role: 'row', id: 'row-' + row.id, 'aria-rowindex': place + 2, 'aria-selected': String(row === selected),
    class: 'row' + (row.isError ? ' wrong' : '') + (row === opened ? ' open' : '')
  },
  cell('id', String(row.id)),
  cell('method', visible(row.method || '–')),
  cell('status', make('span', { class: 'tone-' + tone }, status)),
  cell('marks', signs.length
    ? [make('span', { 'aria-hidden': 'true' }, signs.map((sign) => sign[0]).join('')),
      make('span', { class: 'vh' }, signs.map((sign) => sign[1]).join(', '))] : '',
  { title: signs.map((sign) => sign[1]).join(', ') || null }),
  cell('host', visible(row.host), { title: plain(row.host) }),
  cell('path', [...visible(shownPath(row)), make('span', { class: 'p-host' }, ' ', visible(row.host))],
    { title: plain(row.url) }),
  cell('type', visible(kind(row))),
  cell('size', size(responseSize(row))),
  cell('time', row.timings.total == null ? '–' : time(row.timings.total)),
  cell('fall', bar(row), { 'aria-label': when, title: when }));
  element.style.top = place * rowHeight + 'px';
  if (row.colour) element.classList.add('colour-' + row.colour.replace(/[^a-z]/g, ''));
  return element;
}

function refresh(isNew) {
  const height = isTall() ? 46 : 28;
  if (isNew || height !== rowHeight) {
    rowHeight = height;
    for (const element of drawn.values()) element.remove();
    drawn.clear();
    rows.style.height = shown.length * rowHeight + 'px';
  }
  const first = Math.max(0, Math.floor(grid.scrollTop / rowHeight) - 10);
  const last = Math.min(shown.length, Math.ceil((grid.scrollTop + grid.clientHeight) / rowHeight) + 10);
  const at = selected ? shown.indexOf(selected) : -1;
  for (const [index, element] of drawn) {
    if ((index < first || index >= last) && index !== at) {
      element.remove();
      drawn.delete(index);
    }
  }
  const wanted = [];
  for (let index = first; index < last; index += 1) wanted.push(index);
  if (at >= 0 && (at < first || at >= last)) wanted.push(at);
  for (const index of wanted) {
    if (drawn.has(index)) continue;
    const element = draw(shown[index], index);
    drawn.set(index, element);
    // The order in the document is the one on the screen.
    let next = null;
    for (const [other, candidate] of drawn) {
      if (other > index && (next == null || other < next[0])) next = [other, candidate];
    }
    rows.insertBefore(element, next ? next[1] : null);
  }
  if (at >= 0) grid.setAttribute('aria-activedescendant', 'row-' + selected.id);
  else grid.removeAttribute('aria-activedescendant');
}

function select(row, isQuiet) {
  const before = selected;
  selected = row;
  for (const [index, element] of drawn) {
    if (shown[index] === before) element.setAttribute('aria-selected', 'false');
    if (shown[index] === row) element.setAttribute('aria-selected', 'true');
  }
  const at = row ? shown.indexOf(row) : -1;
  if (at >= 0) {
    const top = at * rowHeight;
    const head = find('head').offsetHeight;
    const room = grid.clientHeight - head;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + rowHeight > grid.scrollTop + room) grid.scrollTop = top + rowHeight - room;
  }
  refresh(false);
  if (opened && row && !isQuiet) open(row);
}
function move(steps) {
  if (!shown.length) return;
  const at = selected ? shown.indexOf(selected) : -1;
  const next = at < 0 ? (steps < 0 ? shown.length - 1 : 0) : at + steps;
  select(shown[Math.max(0, Math.min(shown.length - 1, next))]);
}
