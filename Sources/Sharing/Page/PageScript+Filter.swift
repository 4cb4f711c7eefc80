extension PageScript {
    /// Which exchanges are shown, and in which order.
    static let filter = #"""
        const input = find('filter');
        const errors = find('errors');
        const order = find('order');

        function words(text) {
          return Array.from(text.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi), (match) => ({
            isNot: match[1] === '-', key: (match[2] || '').toLowerCase(),
            text: (match[3] || match[4] || '').toLowerCase(),
            whole: ((match[2] ? match[2] + ':' : '') + (match[3] || match[4] || '')).toLowerCase()
          })).filter((word) => word.whole !== '');
        }
        function haystack(row) {
          if (row.hay == null) {
            row.hay = [row.method, row.url, row.sentUrl, row.status || row.state, row.mediaType, row.kind, row.comment,
              row.failure && row.failure.code, row.grpc && row.grpc.name].filter(Boolean).join(' ').toLowerCase();
          }
          return row.hay;
        }
        function statusMatches(row, text) {
          const compared = /^(>=|<=|>|<)(\d+)$/.exec(text);
          if (compared) {
            const number = Number(compared[2]);
            return { '>=': row.status >= number, '<=': row.status <= number, '>': row.status > number,
              '<': row.status < number }[compared[1]] && row.status > 0;
          }
          const pattern = /^[1-5x][\dx]*$/.test(text) ? text : null;
          if (!pattern) return outcome(row)[0] === text || row.state === text;
          const digits = String(row.status);
          return row.status > 0 && Array.from(pattern).every((sign, index) => sign === 'x' || sign === digits[index]);
        }
        const tests = {
          status: statusMatches,
          method: (row, text) => row.method.toLowerCase() === text,
          host: (row, text) => row.host.toLowerCase().includes(text),
          path: (row, text) => row.path.toLowerCase().includes(text),
          type: (row, text) => (row.mediaType + ' ' + row.kind).toLowerCase().includes(text),
          id: (row, text) => String(row.id) === text,
          is: (row, text) => text === 'error' ? Boolean(row.isError)
            : text === 'changed' ? Boolean(row.sentUrl) || row.flags.some((flag) => /^re.*-changed$/.test(flag))
              : text === 'masked' ? Boolean(row.isMasked)
                : row.state === text || row.kind === text || row.flags.includes(text)
        };
        function matches(row, parsed) {
          return parsed.every((word) => {
            const test = tests[word.key];
            const does = test ? test(row, word.text) : haystack(row).includes(word.whole);
            return does !== word.isNot;
          });
        }
        const orders = {
          recorded: null,
          slowest: (a, b) => b.span - a.span,
          largest: (a, b) => b.sizes.responseBody - a.sizes.responseBody,
          status: (a, b) => b.status - a.status
        };
        function apply() {
          const parsed = words(input.value);
          shown = all.filter((row) => (!errors.checked || row.isError) && matches(row, parsed));
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
        input.addEventListener('input', () => { grid.scrollTop = 0; apply(); });
        errors.addEventListener('change', () => { grid.scrollTop = 0; apply(); });
        order.addEventListener('change', () => { grid.scrollTop = 0; apply(); });

        """#
}
