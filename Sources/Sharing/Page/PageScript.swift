/// The script of a page: constant, so that the page's policy can name it by its digest.
///
/// It builds elements and sets their text; it never reads markup. What is not in sight is not built: rows of the list
/// are as they scroll into sight, details as they are opened.
enum PageScript {
    static let text =
        "(() => {\n'use strict';\n" + values + list + language + languageKeys + filter + failures + bodies + details
        + sections + keys + "})();\n"

    /// Elements, text and numbers.
    private static let values = #"""
        const find = (id) => document.getElementById(id);
        const json = (id) => JSON.parse(find(id).textContent);
        const phases = [['blocked', 'Waiting'], ['dns', 'DNS'], ['connect', 'Connecting'], ['tls', 'TLS'],
          ['send', 'Sending'], ['wait', 'Waiting for the answer'], ['receive', 'Receiving'],
          ['deliver', 'Delivering to the client']];

        function make(name, attributes, ...children) {
          const element = document.createElement(name);
          for (const [key, value] of Object.entries(attributes || {})) {
            if (key === 'class') element.className = value;
            else if (key === 'click') element.addEventListener('click', value);
            else if (value === true) element.setAttribute(key, '');
            else if (value !== false && value != null) element.setAttribute(key, String(value));
          }
          for (const child of children.flat()) if (child != null) element.append(child);
          return element;
        }

        // Characters that move, turn or hide what is beside them are named in their place.
        const hidden = new RegExp('[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5' +
          '\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0' +
          '\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{e0000}-\\u{e0fff}\\u{1d173}-\\u{1d17a}]', 'gu');
        // Scripts that join their letters, and emoji.
        function joining(code) {
          return code >= 0x620 && code < 0x10a0 || code >= 0x2190 && code < 0x2c00 || code === 0xfe0e || code === 0xfe0f ||
            code >= 0x1f000 && code < 0x1fb00;
        }
        function joins(text, index, character) {
          const before = Array.from(text.slice(Math.max(0, index - 2), index)).pop();
          if (!before || !joining(before.codePointAt(0))) return false;
          if ('\ufe0e\ufe0f'.includes(character)) return before !== character;
          return '\u200c\u200d'.includes(character) && joining(text.codePointAt(index + 1));
        }
        function visible(value) {
          const text = String(value == null ? '' : value).replace(/\r\n/g, '\n');
          const pieces = [];
          let start = 0;
          for (const match of text.matchAll(hidden)) {
            const character = match[0];
            if (joins(text, match.index, character)) continue;
            const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
            if (match.index > start) pieces.push(text.slice(start, match.index));
            pieces.push(make('span', { class: 'hid' }, 'U+' + code));
            start = match.index + character.length;
          }
          if (start < text.length) pieces.push(text.slice(start));
          return pieces;
        }
        function plain(value) {
          return String(value == null ? '' : value).replace(hidden, (character) =>
            '<U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '>');
        }

        const grouped = (number) => Number(number).toLocaleString('en');
        function plural(number, one, many) { return grouped(number) + ' ' + (number === 1 ? one : many || one + 's'); }
        function size(bytes) {
          if (bytes == null) return '';
          const units = ['B', 'KB', 'MB', 'GB', 'TB'];
          let unit = 0;
          let value = bytes;
          while (value >= 1000 && unit < 4) { value /= 1000; unit += 1; }
          return (unit === 0 || value >= 100 ? Math.floor(value) : Math.floor(value * 10) / 10) + ' ' + units[unit];
        }
        function time(milliseconds) {
          if (milliseconds == null) return '';
          if (milliseconds > 0 && milliseconds < 0.1) return '<0.1 ms';
          if (milliseconds >= 1000) return trimmed(milliseconds / 1000) + ' s';
          return trimmed(milliseconds) + ' ms';
        }
        function trimmed(value) {
          return value >= 100 ? String(Math.floor(value)) : (Math.floor(value * 10) / 10).toFixed(1);
        }
        const two = (number, digits) => String(number).padStart(digits || 2, '0');
        function clock(date) {
          return two(date.getHours()) + ':' + two(date.getMinutes()) + ':' + two(date.getSeconds()) + '.' +
            two(date.getMilliseconds(), 3);
        }
        function moment(text) {
          const date = new Date(text);
          if (isNaN(date)) return plain(text);
          const zone = -date.getTimezoneOffset();
          const offset = Math.abs(zone);
          const name = zone === 0 ? 'UTC'
            : (zone < 0 ? '-' : '+') + two(Math.floor(offset / 60)) + ':' + two(offset % 60);
          return date.getFullYear() + '-' + two(date.getMonth() + 1) + '-' + two(date.getDate()) + ' ' + clock(date) +
            ' ' + name;
        }

        """#

    /// The rows, of which those in sight exist.
    private static let list = #"""
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

        """#
}
