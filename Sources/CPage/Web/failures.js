// What failed, above the list, and what the signs and colours of the list mean, below it.

const mostFailures = 3;
// The reason, and who gave it.
function blame(row) {
  if (row.failure && !row.status) return row.failure.code + ': ' + row.failure.message;
  if (row.grpc && row.grpc.status > 0) return ('gRPC ' + (row.grpc.name || row.grpc.status) + ' ' + row.grpc.message).trim();
  return (row.by ? 'by ' + row.by : 'by the server') + (row.failure ? ', ' + row.failure.code + ': ' + row.failure.message : '');
}
function showFailures() {
  // What a rule denied is what somebody wanted.
  const wrong = all.filter((row) => row.isError)
    .sort((a, b) => (a.state === 'blocked') - (b.state === 'blocked') || a.index - b.index);
  const box = find('failed');
  box.hidden = !wrong.length;
  find('failed-title').textContent = plural(wrong.length, 'error');
  find('failed-list').replaceChildren(...wrong.slice(0, mostFailures).map((row) => {
    const [status, tone] = outcome(row);
    return make('li', {}, make('button', { click: () => { reveal(row); open(row, true); } },
      make('span', { class: 'faint' }, '#' + row.id), ' ', make('strong', { class: 'tone-' + tone }, status), ' ',
      make('span', { class: 'url' }, visible(row.method + ' ' + row.host + shownPath(row))), ' ',
      make('span', { class: 'blame' }, visible(blame(row)))));
  }), ...(wrong.length > mostFailures ? [make('li', {}, make('button', { click: () => errors.click() },
    'and ' + grouped(wrong.length - mostFailures) + ' more'))] : []));
  return wrong[0];
}
// Selects a row, whatever the filter hides.
function reveal(row) {
  if (!shown.includes(row)) {
    input.value = '';
    errors.checked = false;
    apply();
  }
  select(row, true);
}
function explainSigns() {
  const signs = new Map(all.flatMap((row) => marks(row).map(([sign, words]) => [sign, words.split(':')[0]])));
  const used = phases.filter(([name]) => all.some((row) => row.timings[name] > 0));
  find('legend').replaceChildren(
    ...Array.from(signs, ([sign, words]) => make('span', {}, make('b', {}, sign), ' ' + words)),
    ...used.map(([name, words]) => make('span', { class: 'l-phase' }, make('i', { class: 'ph-' + name }), ' ' + words)));
}
