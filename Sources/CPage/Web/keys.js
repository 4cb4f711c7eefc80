// Keys, the mouse, and the beginning.

grid.addEventListener('scroll', () => refresh(false), { passive: true });
window.addEventListener('resize', () => refresh(false));
rows.addEventListener('click', (event) => {
  const element = event.target.closest('.row');
  if (!element) return;
  const row = byID.get(Number(element.id.slice(4)));
  if (!row) return;
  select(row, true);
  open(row);
});
function listKey(event) {
  const page = Math.max(1, Math.floor(grid.clientHeight / rowHeight) - 2);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity,
    g: -Infinity, G: Infinity }[event.key];
  if (steps != null) {
    if (Number.isFinite(steps)) move(steps);
    else if (shown.length) select(shown[steps < 0 ? 0 : shown.length - 1]);
  } else if (event.key === 'Enter' || event.key === ' ') {
    if (!selected) move(1);
    if (selected) open(selected, event.key === 'Enter');
  } else return false;
  return true;
}
function anyKey(event) {
  if (event.key === 'Escape') return opened ? (close(), true) : false;
  if (event.key === 'j') step(1);
  else if (event.key === 'k') step(-1);
  else if (event.key === '/') input.focus();
  else if (event.key === '?') find('keys').showModal();
  else if (event.key === 'e') errors.click();
  else if (event.key === 'i') showAbout();
  else return false;
  return true;
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const target = event.target;
  if (target === input) {
    if (event.key === 'Escape' && input.value) { input.value = ''; apply(); event.preventDefault(); }
    else if (event.key === 'Enter' || event.key === 'ArrowDown' || event.key === 'Escape') {
      grid.focus();
      if (!selected && shown.length) move(1);
      event.preventDefault();
    }
    return;
  }
  if (target.closest('select')) return;
  const isList = target === grid || target === document.body;
  if (isList && listKey(event)) event.preventDefault();
  else if (anyKey(event)) event.preventDefault();
});
function showAbout() {
  environment();
  find('about').showModal();
}
find('about-button').addEventListener('click', showAbout);
find('keys-button').addEventListener('click', () => find('keys').showModal());
for (const dialog of document.querySelectorAll('dialog')) {
  dialog.querySelector('button.close').addEventListener('click', () => dialog.close());
}

const theme = find('theme');
const root = document.documentElement;
const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark'
  : matchMedia('(prefers-color-scheme: dark)').matches;
const tellTheme = () => theme.setAttribute('aria-pressed', String(isDark()));
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  tellTheme();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tellTheme);
tellTheme();

function follow() {
  const row = byID.get(Number(location.hash.slice(1)));
  if (!row) return false;
  reveal(row);
  open(row);
  return true;
}
window.addEventListener('hashchange', follow);
find('note').textContent = plain(facts.note || '');
find('said').textContent = '';
find('remark').textContent = totals.remark ? 'Not all is here: ' + totals.remark + '.' : '';
find('masked').textContent = facts.isMasked ? (totals.secrets ? plural(totals.secrets, 'secret') + ' masked'
  : 'no secrets found') : 'secrets are not masked';
find('masked').classList.toggle('tone-bad', !facts.isMasked);
find('recorded').textContent = all.length ? moment(all[0].startedAt) : '';
apply();
explainSigns();
const failure = showFailures();
// Beside a list there is room for the first failure; on a narrow screen it would hide the list.
if (!follow() && failure) {
  select(failure, true);
  if (matchMedia('(min-width: 1001px)').matches) open(failure);
}
