extension PageScript {
    /// The language of filters, as `HTTPModel` reads it, over what a page has of an exchange.
    static let language = #"""
        const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|\/]/g, '\\$&');
        const own = (map, key) => Object.hasOwn(map, key) ? map[key] : undefined;
        function refuse(message) { throw new Error(message); }

        // A value: its text, the pattern that its wildcards make, and the regular expression between slashes.
        function readValue(text, at, key) {
          const value = { plain: '', pattern: '', parts: [], hasStar: false, isQuoted: false };
          const add = (sign, isLiteral) => {
            value.plain += sign;
            const isWild = !isLiteral && (sign === '*' || sign === '?');
            value.hasStar = value.hasStar || isWild && sign === '*';
            value.isWild = value.isWild || isWild;
            value.parts.push(isWild ? (sign === '*' ? '[^]*' : '[^]') : escaped(sign));
            value.pattern += value.parts[value.parts.length - 1];
          };
          const isPath = /^(path|url|query)$/.test(key);
          const forms = isPath || /^(host|scheme|method|mode|colour|process)$/.test(key) ? /\/((?:\\[^]|[^\/\s\\])+)\/(?=[\s,()]|$)/y
            : /(body|header)$/.test(key) ? /\/((?:\\[^]|[^\/\\])+)\/(?=[\s,()]|$)/y : null;
          while (at < text.length) {
            const sign = text[at];
            const begins = !value.plain || /header$/.test(key) && /^[^:]+:$/.test(value.plain);
            if (forms && begins) {
              forms.lastIndex = at;
              const found = forms.exec(text);
              if (found && (!isPath || /[\\^$+()[\]{}|]|\.[*+?]/.test(found[1]))) {
                value.expression = found[1];
                return [value, at + found[0].length];
              }
            }
            if (/[\s()]/.test(sign) || key && sign === ',') break;
            if (sign === '"') {
              value.isQuoted = true;
              for (at += 1; text[at] !== '"'; at += 1) {
                if (at >= text.length) refuse('the quotation mark is not closed');
                if (text[at] !== '\\' || at + 1 >= text.length) { add(text[at], true); continue; }
                at += 1;
                add({ n: '\n', r: '\r', t: '\t' }[text[at]] || text[at], true);
              }
              at += 1;
            } else if (sign === '\\') {
              if (at + 1 >= text.length) refuse('\\ ends the filter; write \\\\ for a backslash');
              value.isQuoted = true;
              add(text[at + 1], true);
              at += 2;
            } else {
              add(sign, false);
              at += 1;
            }
          }
          return [value, at];
        }
        function tokensOf(text) {
          const found = [];
          let at = 0;
          while (at < text.length) {
            if (/\s/.test(text[at])) { at += 1; continue; }
            const sign = { '(': 'open', ')': 'close', '!': 'not', '-': 'not' }[text[at]];
            if (sign) { found.push({ kind: sign }); at += 1; continue; }
            const key = /^([A-Za-z-]+):(?!\/\/)/.exec(text.slice(at, at + 40));
            if (!key) {
              const [value, end] = readValue(text, at, '');
              const operator = !value.isQuoted && /^(and|or|not|AND|OR|NOT)$/.test(value.plain);
              found.push(operator ? { kind: value.plain.toLowerCase() } : { kind: 'word', value });
              at = end;
              continue;
            }
            const name = key[1].toLowerCase();
            const values = [];
            at += key[0].length - 1;
            do {
              const [value, end] = readValue(text, at + 1, name);
              values.push(value);
              at = end;
            } while (text[at] === ',');
            found.push({ kind: 'term', key: name, values });
          }
          return found;
        }
        function compile(text) {
          const list = tokensOf(text);
          let at = 0;
          const kind = () => at < list.length ? list[at].kind : 'end';
          const joined = (parts, isAny) => parts.length === 1 ? parts[0] : {
            cost: Math.max(...parts.map((part) => part.cost)),
            parts: parts.sort((a, b) => a.cost - b.cost),
            test(row, get) {
              return isAny ? this.parts.some((part) => part.test(row, get)) : this.parts.every((part) => part.test(row, get));
            }
          };
          function any() {
            const parts = [every()];
            while (kind() === 'or') { at += 1; parts.push(every()); }
            return joined(parts, true);
          }
          function every() {
            const parts = [operand()];
            while (!['or', 'close', 'end'].includes(kind())) {
              if (kind() === 'and') at += 1;
              parts.push(operand());
            }
            return joined(parts, false);
          }
          function operand() {
            let isNot = false;
            for (; kind() === 'not'; at += 1) isNot = !isNot;
            const token = list[at];
            at += 1;
            let part;
            if (!token || ['and', 'or', 'close'].includes(token.kind)) refuse('a term is missing');
            else if (token.kind === 'open') {
              part = any();
              if (kind() !== 'close') refuse('the parenthesis is not closed');
              at += 1;
            } else part = token.kind === 'word' ? word(token.value) : term(token.key, token.values);
            return isNot ? { cost: part.cost, test: (row, get) => !part.test(row, get) } : part;
          }
          if (!list.length) return { cost: 0, test: () => true };
          const whole = any();
          if (at < list.length) refuse('there is no parenthesis to close');
          return whole;
        }
        function word(value) {
          if (!value.plain) refuse('there is nothing to search for');
          if (!value.isQuoted && value.plain === 'error') return { cost: 0, test: (row) => Boolean(row.isError) };
          const compared = value.isQuoted ? null : /^([a-z]+)([<>]|=)(.*)$/i.exec(value.plain);
          if (compared && facts.filter.keys.includes(compared[1].toLowerCase())
            && (compared[2] !== '=' || /^(host|method|size|status)$/i.test(compared[1]))) {
            refuse('a colon is missing after ' + compared[1]);
          }
          const pattern = new RegExp(value.pattern, 'iu');
          return { cost: 0, test: (row) => pattern.test(row.url) };
        }
        function term(key, values) {
          if (!facts.filter.keys.includes(key)) refuse("'" + key + ":' is not a filter word");
          if (!languageKeys[key]) refuse('a page cannot know ' + key + ':');
          const tests = values.map((value) => {
            if (!value.plain && !value.expression) refuse('there is no value for ' + key + ':');
            return languageKeys[key](value);
          });
          return {
            cost: /^(ip|client)$|(body|header)$/.test(key) ? 1 : 0,
            test: (row, get) => tests.some((test) => test(row, get))
          };
        }

        // What values are compared with.
        function matcher(value, isExact, isAnywhere) {
          const flags = isExact ? 'u' : 'iu';
          if (value.expression != null) {
            const own = /^\(\?(-?)i\)([^]*)/.exec(value.expression);
            try {
              return own ? new RegExp(own[2], own[1] ? 'u' : 'iu') : new RegExp(value.expression, flags);
            } catch (error) {
              return refuse('a page cannot read this regular expression');
            }
          }
          return new RegExp(isAnywhere && !value.hasStar ? value.pattern : '^' + value.pattern + '$', flags);
        }
        const text = (read, isExact, isAnywhere) => (value) => {
          const pattern = matcher(value, isExact, isAnywhere);
          return (row, get) => pattern.test(read(row, get) || '');
        };
        const bytes = { '': 1, b: 1, k: 1e3, kb: 1e3, kib: 1024, m: 1e6, mb: 1e6, mib: 1048576, g: 1e9, gb: 1e9, gib: 1073741824 };
        const lengths = { '': 1, us: 1e-3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 36e5, d: 864e5 };
        function amount(written, units, fallback) {
          const found = /^(\d{1,18}(?:\.\d{1,6})?)([a-z]*)$/i.exec(written);
          const factor = found && own(units, (found[2] || fallback || '').toLowerCase());
          if (!factor) refuse("'" + written + "' is not a number" + (units === bytes || units === lengths ? ' with its unit' : ''));
          return Number(found[1]) * factor;
        }
        function range(written, units, least) {
          const compared = /^(>=|<=|>|<)(.*)$/.exec(written);
          if (compared) {
            const limit = amount(compared[2], units);
            return { '>=': (n) => n >= limit, '<=': (n) => n >= least && n <= limit, '>': (n) => n > limit,
              '<': (n) => n >= least && n < limit }[compared[1]];
          }
          const dots = written.indexOf('..');
          if (dots < 0) {
            const exact = amount(written, units);
            if (units === lengths) refuse('no two exchanges take the same time: write time:>' + written);
            return (n) => n === exact;
          }
          const [first, last] = [written.slice(0, dots), written.slice(dots + 2)];
          const from = first ? amount(first, units, /[a-z]*$/i.exec(last)[0]) : least;
          const to = last ? amount(last, units) : Infinity;
          if (from > to) refuse('the range runs backwards');
          return (n) => n >= from && n <= to;
        }
        const number = (read, units, least) => (value) => {
          const fits = range(value.plain, units || { '': 1 }, least || 0);
          return (row) => { const found = read(row); return found != null && fits(found); };
        };

        """#

    /// What each key of the language is asked of.
    static let languageKeys = #"""
        const authority = (row) => row.host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
        const scheme = (row) => (/^[a-z]+/.exec(row.url) || [''])[0];
        const address = (leg) => (value) => {
          const pattern = matcher(value);
          return (row, get) => {
            const found = (get()[leg] || {}).peerAddress || '';
            return pattern.test(found) || pattern.test(found.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
          };
        };
        const versions = { h1: /1\.[01]$/, 1: /1\.[01]$/, '1.0': /1\.0$/, 1.1: /1\.1$/, h2: /2$/, 2: /2$/, h3: /3$/, 3: /3$/ };
        function instant(value) {
          const found = Date.parse(/^\d{4}-\d\d-\d\d$/.test(value.plain) ? value.plain + 'T00:00' : value.plain);
          if (!/^\d{4}-\d\d-\d\d/.test(value.plain) || isNaN(found)) {
            refuse('a page knows no time of day and no now: write a date, as 2026-11-21T14:30:00Z');
          }
          return found * 1000;
        }
        const fields = (sides) => (value) => {
          const colon = value.expression == null ? value.plain.indexOf(':', 1) : value.plain.length - 1;
          const name = value.parts.slice(0, colon < 0 ? undefined : colon).join('');
          const names = new RegExp(name ? '^' + name + '$' : '', 'iu');
          const rest = colon < 0 ? [] : value.parts.slice(colon + 1);
          while (/^\s/.test(rest[0])) rest.shift();
          const pattern = value.expression != null ? matcher(value)
            : matcher({ pattern: rest.join(''), hasStar: rest.includes('[^]*') }, false, true);
          return (row, get) => sides.some((side) => {
            const message = get()[side] || {};
            return [(message.received || {}).headers, (message.sent || {}).headers, message.trailers].some((list) =>
              (list || []).some((field) => names.test(field.name) && pattern.test(field.value)));
          });
        };
        const contents = (sides) => (value) => {
          const pattern = value.expression != null ? matcher(value) : new RegExp(escaped(value.plain), 'iu');
          return (row, get) => sides.some((side) => {
            const message = get()[side] || {};
            const way = side === 'request' ? 'send' : 'receive';
            return [message.body, message.bodySent].some((part) => part && part.text != null && pattern.test(part.text))
              || (get().messages || []).some((one) => one.direction === way && one.text != null && pattern.test(one.text));
          });
        };
        const failed = (row) => row.state === 'failed' || Boolean(row.failure);
        function property(value) {
          const name = value.plain.toLowerCase();
          if (name === 'masked') return (row) => Boolean(row.isMasked);
          const [what, ...names] = own(facts.filter.facts, name) || refuse('is: cannot be ' + name);
          return {
            flags: (row) => row.flags.some((flag) => names.includes(flag)), state: (row) => names.includes(row.state),
            kind: (row) => names.includes(row.kind), failure: (row) => Boolean(row.failure) && names.includes(row.failure.code),
            commented: (row) => row.comment != null, imported: (row) => Boolean(row.isImported), failed,
            error: (row) => Boolean(row.isError),
            grpc: (row) => row.flags.includes('grpc') || Boolean(row.grpc) || row.mediaType.startsWith('application/grpc')
          }[what];
        }
        const languageKeys = {
          host: (value) => {
            const plain = text(authority)(value);
            let other = '';
            try { other = value.isWild || value.expression ? '' : new URL('http://' + value.plain).hostname; } catch (error) { other = ''; }
            return (row, get) => plain(row, get) || other !== '' && authority(row).toLowerCase() === other;
          },
          path: text((row) => row.path.split('?')[0], true),
          query: text((row) => row.path.split('?').slice(1).join('?'), true, true),
          url: text((row) => row.url, false, true),
          scheme: text(scheme),
          port: number((row) => Number((/:(\d+)$/.exec(row.host) || [])[1]
            || { https: 443, wss: 443 }[scheme(row)] || 80)),
          method: text((row) => row.method),
          status: (value) => number((row) => row.status, null, 1)(/^[1-9]xx$/i.test(value.plain)
            ? { plain: value.plain[0] + '00..' + value.plain[0] + '99' } : value),
          grpc: (value) => {
            if (value.plain === '*') return (row) => Boolean(row.grpc);
            const letters = (name) => (name || '').toLowerCase().replace(/[_-]/g, '');
            return /^[a-z]/i.test(value.plain) ? (row) => Boolean(row.grpc) && letters(row.grpc.name) === letters(value.plain)
              : number((row) => row.grpc ? row.grpc.status : null)(value);
          },
          type: (value) => {
            if (value.isWild || value.plain.includes('/')) return text((row) => row.mediaType)(value);
            const part = value.plain.toLowerCase() === 'js' ? 'javascript' : value.plain;
            const pattern = new RegExp('(?<![a-z0-9])' + escaped(part) + '(?![a-z0-9])', 'iu');
            return (row) => pattern.test(row.mediaType);
          },
          size: number(responseSize, bytes),
          time: number((row) => row.timings.total, lengths),
          messages: number((row) => row.tally ? row.tally.fromClient + row.tally.fromServer : 0),
          id: number((row) => row.id),
          ip: address('upstream'), client: address('client'),
          process: (value) => /^[\d<>]/.test(value.plain) ? number((row) => row.process ? row.process.id : null)(value)
            : text((row) => row.process && row.process.name)(value),
          mode: (value) => text((row) => row.mode || 'regular')(value.plain.toLowerCase() === 'reverse'
            ? { pattern: 'reverse:[^]*' } : value),
          version: (value) => {
            const pattern = own(versions, value.plain.toLowerCase().replace(/^http\//, '')) || refuse('write h1, h2, h3, 1.0 or 1.1');
            return (row) => pattern.test(row.clientVersion) || pattern.test(row.upstreamVersion || '');
          },
          since: (value) => { const at = instant(value); return (row) => row.at >= at; },
          before: (value) => { const at = instant(value); return (row) => row.at < at; },
          header: fields(['request', 'response']), reqheader: fields(['request']), resheader: fields(['response']),
          comment: text((row) => row.comment, false, true), colour: text((row) => row.colour),
          body: contents(['request', 'response']), reqbody: contents(['request']), resbody: contents(['response']),
          is: property
        };

        """#
}
