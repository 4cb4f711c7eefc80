/// The style of a page: constant, so that the page's policy can name it by its digest. Text has a contrast of at least
/// 4.5 to 1 in both themes (WCAG 2.2, 1.4.3).
enum PageStyle {
    static let text = colours + frame + list + details

    private static let colours = #"""

        :root { color-scheme: light dark;
          --back: light-dark(#ffffff, #14171c); --raised: light-dark(#f5f7f9, #1b2027);
            --text: light-dark(#1b1f24, #e6e9ee);
          --faint: light-dark(#525b66, #a3adb9); --rule: light-dark(#d5dbe2, #343b45);
            --edge: light-dark(#818b98, #78828f);
          --accent: light-dark(#0a4da8, #84bdff); --chosen: light-dark(#dceafe, #1d3a5f);
            --chosen-edge: light-dark(#0a4da8, #84bdff);
          --good: light-dark(#0f5f27, #5fd47c); --away: light-dark(#744500, #e6b94d);
            --poor: light-dark(#96310a, #ffab62);
          --bad: light-dark(#a50e28, #ff8d85); --wrong: light-dark(#fff0ef, #2b1a1d);
            --mark: light-dark(#fff3c4, #45390e);
          --added: light-dark(#e2f5e6, #14301d); --removed: light-dark(#fde7e6, #3a1c1e);
          --p-blocked: light-dark(#b4bcc6, #5b6572); --p-dns: light-dark(#0d8a8a, #2fb5b5);
            --p-connect: light-dark(#d97a1d, #e69a4a);
          --p-tls: light-dark(#a04bc4, #c583e3); --p-send: light-dark(#5470c6, #8fa6ee);
            --p-wait: light-dark(#2c9d4b, #46b868);
          --p-receive: light-dark(#1f77d0, #559fe8); --p-deliver: light-dark(#7db8f0, #2f5f94);
          --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        :root[data-theme="light"] { color-scheme: light; }
        :root[data-theme="dark"] { color-scheme: dark; }

        """#

    private static let frame = #"""
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--back); color: var(--text);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
        h1, h2, h3, h4, p { margin: 0; }
        h1 { font-size: 17px; overflow-wrap: anywhere; }
        .faint { color: var(--faint); font-weight: normal; }
        .vh { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
          white-space: nowrap; }
        .skip { position: absolute; left: 8px; top: -60px; z-index: 5; padding: 6px 12px; background: var(--back);
          color: var(--accent); }
        .skip:focus { top: 8px; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        header, .search { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; padding: 8px 16px; }
        header { justify-content: space-between; padding-top: 12px; }
        header .faint { font-size: 13px; }
        .search { background: var(--raised); border-block: 1px solid var(--rule); }
        .search output { margin-left: auto; color: var(--faint); white-space: nowrap; }
        .buttons, .tools { display: flex; flex-wrap: wrap; gap: 6px; }
        button, input, select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--edge);
          border-radius: 6px; padding: 3px 10px; min-height: 28px; }
        button { cursor: pointer; }
        button:hover { background: var(--chosen); }
        button[aria-pressed="true"] { background: var(--chosen); border-color: var(--chosen-edge); }
        input[type="search"] { flex: 1 1 240px; min-width: 0; font-family: var(--mono); font-size: 13px; }
        input::placeholder { color: var(--faint); opacity: 1; }
        input[type="checkbox"] { min-height: 0; accent-color: var(--accent); vertical-align: -1px; }
        .note { padding: 4px 10px; background: var(--mark); border-radius: 4px; }
        #remark { margin: 8px 16px; }
        #remark:empty, #note:empty, #problem:empty, #legend:empty { display: none; }
        #note { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 8em; overflow: auto; max-width: 100ch; }
        #problem { flex-basis: 100%; color: var(--bad); }
        #failed { padding: 6px 16px; border-bottom: 1px solid var(--rule); background: var(--wrong); }
        #failed summary { font-weight: 600; }
        #failed ul { list-style: none; margin: 0; padding: 0; }
        #failed li button { width: 100%; text-align: left; border: 0; background: none; padding: 0; min-height: 0;
          overflow-wrap: anywhere; }
        #failed li button:hover { background: var(--chosen); }
        #failed .url { font-family: var(--mono); font-size: 13px; unicode-bidi: isolate; }
        #failed .blame { color: var(--faint); unicode-bidi: isolate; }
        #legend { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 4px 16px; font-size: 12px;
          border-top: 1px solid var(--rule); }
        #legend b { font-family: var(--mono); color: var(--text); }
        #legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; }
        main { flex: 1; min-height: 0; display: flex; }
        #listing { flex: 1 1 0; min-width: 0; display: flex; flex-direction: column; container: listing / inline-size;
          position: relative; }
        dialog { color: var(--text); background: var(--back); border: 1px solid var(--edge); border-radius: 10px;
          padding: 16px 20px;
          width: min(760px, calc(100vw - 32px)); max-height: calc(100vh - 48px); overflow: auto; }
        dialog::backdrop { background: rgb(0 0 0 / 45%); }
        .dialog-head { display: flex; justify-content: space-between; align-items: center; margin-bottom: 10px; }
        dialog h2 { font-size: 16px; }
        dialog h3 { font-size: 15px; margin: 14px 0 6px; }
        kbd { font-family: var(--mono); font-size: 12px; border: 1px solid var(--edge); border-radius: 4px;
          padding: 0 5px; }
        @media (prefers-reduced-motion: no-preference) { #details { scroll-behavior: smooth; } }

        """#

    private static let list = #"""
        #list { flex: 1; min-height: 0; overflow: auto; overflow-anchor: none; font-size: 13px; }
        #list:focus-visible { outline-offset: -2px; }
        #list:focus-visible:has([aria-selected="true"]) { outline: none; }
        #head { position: sticky; top: 0; z-index: 2; background: var(--raised); border-bottom: 1px solid var(--rule); }
        #head .row { cursor: default; }
        #head .row > span { font-weight: 600; }
        #rows { position: relative; }
        .row { display: grid; align-items: center; height: 28px; padding: 0 16px; gap: 10px; white-space: nowrap;
          cursor: pointer;
          grid-template-columns: 5ch 9ch 8ch 3ch minmax(9ch, 2fr) minmax(12ch, 4fr) 10ch 8ch 8ch minmax(120px, 3fr); }
        .row > span { min-width: 0; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
        #rows .row { position: absolute; inset-inline: 0; }
        #rows .row:hover { background: var(--raised); }
        #rows .wrong { background: var(--wrong); }
        #rows .row[aria-selected="true"] { background: var(--chosen); box-shadow: inset 4px 0 var(--chosen-edge); }
        #list:focus-visible .row[aria-selected="true"] { outline: 2px solid var(--accent); outline-offset: -2px; }
        #rows .open .c-id { font-weight: 700; color: var(--accent); }
        .c-id, .c-size, .c-time { text-align: right; font-variant-numeric: tabular-nums; }
        .c-id, #rows .c-type { color: var(--faint); }
        .c-method { font-weight: 600; }
        .p-host { display: none; color: var(--faint); }
        .c-marks { font-family: var(--mono); }
        .row > .c-fall { position: relative; height: 16px; overflow: hidden; }
        #head .c-fall { height: auto; }
        .bar { position: absolute; top: 2px; height: 12px; min-width: 3px; display: flex; border-radius: 2px;
          overflow: hidden;
          background: var(--p-blocked); }
        .bar i { height: 100%; flex: none; }
        .ph-blocked { background: var(--p-blocked); } .ph-dns { background: var(--p-dns); }
        .ph-connect { background: var(--p-connect); } .ph-tls { background: var(--p-tls); }
        .ph-send { background: var(--p-send); } .ph-wait { background: var(--p-wait); }
        .ph-receive { background: var(--p-receive); } .ph-deliver { background: var(--p-deliver); }
        .tone-good { color: var(--good); } .tone-away { color: var(--away); } .tone-poor { color: var(--poor); }
        .tone-bad { color: var(--bad); } .tone-none { color: var(--faint); }
        .c-status { font-weight: 600; }
        .colour-red .c-id { border-left: 5px solid #e5484d; } .colour-orange .c-id { border-left: 5px solid #f0762b; }
        .colour-yellow .c-id { border-left: 5px solid #d6a800; } .colour-green .c-id { border-left: 5px solid #30a46c; }
        .colour-blue .c-id { border-left: 5px solid #3b82f6; } .colour-purple .c-id { border-left: 5px solid #8e4ec6; }
        .none { position: absolute; inset: 60px 0 auto; text-align: center; color: var(--faint); }
        .hid { font: 600 0.8em var(--mono); border: 1px solid currentColor; border-radius: 3px; padding: 0 2px;
          margin: 0 1px;
          color: var(--bad); unicode-bidi: isolate; }
        @container listing (max-width: 900px) {
          .row { grid-template-columns: 5ch 9ch 7ch 3ch minmax(8ch, 2fr) minmax(12ch, 4fr) 8ch minmax(70px, 1.4fr); }
          .c-type, .c-size { display: none; }
        }
        @container listing (max-width: 620px) {
          .row { grid-template-columns: 4ch 9ch 7ch 2ch minmax(10ch, 1fr) 8ch; gap: 8px; padding: 0 10px; }
          .c-host, .c-fall, .l-phase { display: none; }
          .p-host { display: inline; }
        }
        @container listing (max-width: 430px) {
          #head { display: none; }
          .row { height: 46px; padding: 3px 10px; gap: 0 10px; grid-template-columns: auto auto 2ch 1fr auto; }
          .row > .c-id { display: none; }
          .row > .c-path { grid-area: 1 / 1 / auto / -1; }
          .row > .c-host { display: block; color: var(--faint); }
          .p-host { display: none; }
        }

        """#

    private static let details = #"""
        #details { position: relative; flex: 1.3 1 0; min-width: 0; overflow: auto;
          border-left: 1px solid var(--rule); }
        #details[hidden] { display: none; }
        .detail-head { position: sticky; top: 0; z-index: 1; background: var(--back);
          border-bottom: 1px solid var(--rule);
          padding: 10px 16px; display: grid; gap: 8px; }
        #detail-title { font-size: 15px; overflow-wrap: anywhere; max-height: 5.8em; overflow: auto; }
        #detail-title .url { font-weight: normal; font-family: var(--mono); font-size: 13px; unicode-bidi: isolate; }
        .detail-head nav { display: flex; flex-wrap: wrap; gap: 4px; }
        .detail-head nav button { border-color: transparent; background: var(--raised); color: var(--accent); }
        .detail-head nav button:hover { background: var(--chosen); }
        #details section { padding: 12px 16px 4px; scroll-margin-top: 120px; }
        #details h3 { font-size: 14px; padding-bottom: 4px; margin-bottom: 8px; border-bottom: 1px solid var(--rule); }
        h4 { font-size: 13px; }
        dl { display: grid; grid-template-columns: minmax(90px, max-content) minmax(0, 1fr); gap: 2px 14px;
          margin: 0 0 8px; }
        dt { color: var(--faint); }
        dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: isolate; }
        dl.keys dd { white-space: normal; }
        .block { margin: 0 0 12px; }
        .block-head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; margin-bottom: 4px; }
        .block-head .tools { margin-left: auto; }
        .block-head button { min-height: 24px; padding: 0 8px; font-size: 13px; }
        table { border-collapse: collapse; width: 100%; font-size: 13px; }
        th, td { text-align: left; vertical-align: top; padding: 2px 12px 2px 0; border-bottom: 1px solid var(--rule);
          overflow-wrap: anywhere; unicode-bidi: isolate; font-weight: normal; }
        tbody th { width: 30%; min-width: 9ch; font-weight: 600; }
        td { font-family: var(--mono); white-space: pre-wrap; }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .timing th { width: 24ch; } .timing .number { width: 10ch; }
        .lane { position: relative; }
        .lane i { position: absolute; top: 5px; height: 11px; min-width: 2px; border-radius: 2px; }
        .sum th, .sum td { font-weight: 600; border-bottom: 0; }
        .messages td { white-space: nowrap; } .messages th { font-weight: 600; }
        .messages .content { white-space: pre-wrap; width: 70%; }
        .messages .sent { background: var(--raised); }
        .start { font: 13px var(--mono); overflow-wrap: anywhere; margin: 0 0 8px; unicode-bidi: isolate; }
        pre, .lines { margin: 0; padding: 8px 10px; max-height: 60vh; overflow: auto; background: var(--raised);
          border: 1px solid var(--rule);
          border-radius: 6px; font: 12.5px/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
          unicode-bidi: isolate; }
        code { font: inherit; }
        .picture { padding: 8px; border: 1px solid var(--rule); border-radius: 6px; overflow: auto;
          background: repeating-conic-gradient(var(--raised) 0 25%, var(--back) 0 50%) 0 / 16px 16px; }
        .picture img { max-width: 100%; height: auto; display: block; }
        summary { cursor: pointer; padding: 3px 0; overflow-wrap: anywhere; }
        .trace { list-style: none; margin: 0 0 8px; padding: 0; display: grid; gap: 4px; }
        .trace li { overflow-wrap: anywhere; padding-left: 8px; border-left: 3px solid var(--rule); }
        .trace .fired { border-left-color: var(--accent); }
        .tool { font-weight: 600; } .fired .tool { color: var(--accent); }
        .rule { font: 12.5px var(--mono); background: var(--raised); border: 1px solid var(--rule);
          border-radius: 4px; padding: 0 4px; }
        .r-key, .r-label, .r-attribute { color: var(--accent); } .r-string { color: var(--good); }
        .r-number, .r-literal, .r-changed { color: var(--away); } .r-faint, .r-punctuation { color: var(--faint); }
        .r-heading { font-weight: 700; } .r-warning { color: var(--poor); } .r-failure { color: var(--bad); }
        .r-added { color: var(--good); background: var(--added); } .r-removed { color: var(--bad);
          background: var(--removed); }
        @media (max-width: 1000px) {
          .has-details #listing, .has-details #remark, .has-details #failed { display: none; }
          #details { border-left: 0; }
        }
        @media (max-width: 700px) {
          header, .search { padding-inline: 10px; }
          .search { gap: 6px 8px; }
          #details section { padding-inline: 10px; } .detail-head { padding-inline: 10px; }
          .search label[for="filter"] { position: absolute; clip-path: inset(50%); width: 1px; height: 1px;
            overflow: hidden; }
          .search output { margin-left: 0; }
          .has-details > header, .has-details > .search { display: none; }
          .detail-head { padding-block: 6px; gap: 6px; }
          .detail-head nav { flex-wrap: nowrap; overflow-x: auto; } .detail-head nav button { flex: none; }
          #details section { scroll-margin-top: 140px; }
        }
        @media print {
          html, body { height: auto; } main { display: block; } #list, #details { overflow: visible; }
          .buttons, .search, .detail-head nav, #failed button { display: none; }
        }

        """#
}
