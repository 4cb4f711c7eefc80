// Elements, text and numbers.

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
