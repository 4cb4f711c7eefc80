// Bodies: text, formatted JSON, bytes in hexadecimal, pictures.

// Lays JSON out by its tokens, so that numbers and names stay as they were written.
function tokens(text) {
  const pattern = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|[A-Za-z]+|[{}[\],:]|\s+|./gs;
  return text.match(pattern) || [];
}
function laidOut(text) {
  const lines = make('code', {});
  const tokenList = tokens(text).filter((token) => !/^\s+$/.test(token));
  let depth = 0;
  const line = () => '\n' + '  '.repeat(Math.min(depth, 60));
  tokenList.forEach((token, index) => {
    const next = tokenList[index + 1];
    if (token === '{' || token === '[') {
      depth += 1;
      lines.append(token);
      if (next !== '}' && next !== ']') lines.append(line());
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1);
      const before = tokenList[index - 1];
      lines.append(before === '{' || before === '[' ? token : line() + token);
    } else if (token === ',') lines.append(token + line());
    else if (token === ':') lines.append(': ');
    else {
      const role = token[0] === '"' ? (next === ':' ? 'key' : 'string') : /^[-\d]/.test(token) ? 'number'
        : 'literal';
      lines.append(make('span', { class: 'r-' + role }, ...visible(token)));
    }
  });
  return lines;
}
function isJSON(text) {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    return false;
  }
}
function bytesOf(base64) { return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)); }
function hexadecimal(base64) {
  const bytes = bytesOf(base64);
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = Array.from(bytes.subarray(at, at + 16));
    const digits = part.map((byte) => two(byte.toString(16))).join(' ');
    const signs = part.map((byte) => byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.').join('');
    lines.push(two(at.toString(16), 6) + '  ' + digits.padEnd(bytes.length > 16 ? 47 : 0) + '  ' + signs);
  }
  return lines.join('\n');
}
async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch (error) {
    button.textContent = 'Not copied';
  }
  find('said').textContent = button.textContent;
  setTimeout(() => { button.textContent = before; find('said').textContent = ''; }, 1500);
}
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function body(title, data) {
  if (!data) return null;
  const parts = [data.mediaType, size(data.size)];
  const decoded = data.decodedSize;
  if (decoded != null && decoded !== data.size) parts.push(size(decoded) + ' decoded');
  if (data.description) parts.push(data.description);
  const tools = make('span', { class: 'tools' });
  const block = make('div', { class: 'block' }, make('div', { class: 'block-head' },
    make('h4', {}, title),
    make('span', { class: 'faint' }, visible(parts.filter(Boolean).join(' · '))), tools));
  const area = make('pre', { tabindex: '0', role: 'region', 'aria-label': title });
  if (data.text != null) {
    let isLaidOut = Boolean(data.isJSON) || isJSON(data.text);
    const fill = () => area.replaceChildren(isLaidOut ? laidOut(data.text)
      : make('code', {}, visible(data.text)));
    fill();
    if (isLaidOut) {
      tools.append(make('button', { 'aria-pressed': 'false', click: (event) => {
        isLaidOut = !isLaidOut;
        event.target.setAttribute('aria-pressed', String(!isLaidOut));
        fill();
      } }, 'As it came'));
    }
    tools.append(make('button', { click: (event) => copy(data.text, event.target) }, 'Copy'));
    block.append(area);
  } else if (data.image && imageTypes.includes(data.image)) {
    const alt = data.description + ', ' + data.width + ' by ' + data.height + ' pixels';
    block.append(make('div', { class: 'picture' }, make('img', {
      alt, width: data.width, height: data.height, src: 'data:' + data.image + ';base64,' + data.base64
    })));
    block.append(make('p', { class: 'faint' }, data.width + ' × ' + data.height + ' pixels'));
  } else if (data.base64) {
    area.append(make('code', {}, hexadecimal(data.base64)));
    block.append(area);
  }
  for (const note of data.notes || []) block.append(make('p', { class: 'note' }, visible(note)));
  if (data.cut) {
    block.append(make('p', { class: 'note' }, 'Cut: the page has the first ' + size(data.shown) +
      '. The session, and its export as har or json, has all of it.'));
  }
  return block;
}
