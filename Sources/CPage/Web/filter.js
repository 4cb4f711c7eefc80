// Which exchanges are shown, and in which order.

const input = find('filter');
const errors = find('errors');
const order = find('order');

const orders = {
  recorded: null,
  slowest: (a, b) => b.span - a.span,
  largest: (a, b) => responseSize(b) - responseSize(a),
  status: (a, b) => b.status - a.status
};
let wanted = compile('');
function fits(row) {
  let data = null;
  return wanted.test(row, () => data || (data = detailsOf(row)));
}
let delay = 0;
// Details of many exchanges take a while to be read: not at each letter.
function applyLater() {
  clearTimeout(delay);
  const change = () => { grid.scrollTop = 0; apply(); };
  if (all.length > 2000 && /(body|header|ip|client):/.test(input.value)) delay = setTimeout(change, 250);
  else change();
}
function apply() {
  clearTimeout(delay);
  let problem = '';
  try {
    wanted = compile(input.value);
  } catch (error) {
    problem = error.message;
  }
  // While a word is typed, the filter is the one before it.
  find('problem').textContent = problem ? 'Not understood: ' + problem + '. The list is unchanged.'
    : wanted.cost && totals.remark ? 'Bodies are searched as far as the page has them.' : '';
  input.setAttribute('aria-invalid', String(problem !== ''));
  shown = all.filter((row) => (!errors.checked || row.isError) && fits(row));
  const compare = orders[order.value];
  if (compare) shown = shown.slice().sort((a, b) => compare(a, b) || a.index - b.index);
  layAxis();
  const wrong = shown.reduce((sum, row) => sum + (row.isError ? 1 : 0), 0);
  find('count').textContent = (shown.length === all.length ? plural(all.length, 'exchange')
    : grouped(shown.length) + ' of ' + plural(all.length, 'exchange')) + ', ' + plural(wrong, 'error');
  grid.setAttribute('aria-rowcount', String(shown.length + 1));
  find('none').hidden = shown.length > 0;
  const span = (axis.end - axis.begin) / 1000;
  find('span').textContent = shown.length ? time(span) : '';
  find('fall').title = axis.isCut ? 'Idle time is drawn short.' : '';
  if (selected && !shown.includes(selected)) selected = null;
  refresh(true);
}
input.addEventListener('input', applyLater);
errors.addEventListener('change', () => { grid.scrollTop = 0; apply(); });
order.addEventListener('change', () => { grid.scrollTop = 0; apply(); });
