import Text

/// What a page is made of besides its data: constant, but for its title.
enum PageMarkup {
    /// The digests of ``PageScript`` and ``PageStyle`` (SHA-256, in base64), by which the page's policy admits them and
    /// nothing else; a test compares them.
    static let scriptDigest = "ybH/4qwz94NsZUPSC7kIHR6H7pNEJzUbd15xK9fEVLM="
    static let styleDigest = "cxImedsh4uh/t+3WyHU8d1MzDBJl15s3t2BWgEyGOrg="

    /// What the page may do (Content Security Policy Level 3): run our script, use our style, show images it holds.
    static let policy = """
        default-src 'none'; script-src 'sha256-\(scriptDigest)'; style-src 'sha256-\(styleDigest)'; \
        img-src data:; base-uri 'none'; form-action 'none'
        """

    /// Everything before the data.
    static func beginning(title: String) -> String {
        let name = PageText.escaped(title.isEmpty ? "Exchanges" : title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="color-scheme" content="light dark">
            <title>\(name) – Sluice</title>
            <style>\(PageStyle.text)</style>
            </head>
            <body>

            """ + top(name)
    }

    private static func top(_ name: String) -> String {
        #"""
        <a class="skip" href="#list">Skip to the exchanges</a>
        <header>
        <div class="title">
        <h1>\#(name)</h1>
        <p class="faint"><span id="recorded"></span> · <span id="masked"></span></p>
        <p id="note"></p>
        </div>
        <div class="buttons">
        <button type="button" id="about-button" aria-haspopup="dialog">About this session</button>
        <button type="button" id="keys-button" aria-haspopup="dialog">Keys</button>
        <button type="button" id="theme" aria-pressed="false">Dark</button>
        </div>
        </header>
        <noscript><p class="note">The page needs its own script to show the exchanges. It loads nothing from
        elsewhere.</p></noscript>
        <div role="search" class="search">
        <label for="filter">Filter</label>
        <input id="filter" type="search" autocomplete="off" spellcheck="false" aria-describedby="filter-help"
        placeholder="word, status:5xx, time:&gt;500ms, body:text, not, or">
        <span id="filter-help" class="vh">The filter language of Sluice: a word is looked for in the URL; status:5xx,
        method:POST, time:&gt;500ms, body:text, is:changed; not, or, parentheses.</span>
        <label class="check"><input type="checkbox" id="errors"> Errors only</label>
        <label for="order">Order</label>
        <select id="order"><option value="recorded">as recorded</option><option value="slowest">slowest first</option>
        <option value="largest">largest first</option><option value="status">by status</option></select>
        <output id="count" for="filter errors" aria-live="polite"></output>
        <span id="problem" role="status"></span>
        <span id="said" class="vh" role="status"></span>
        </div>
        <p id="remark" class="note"></p>
        <details id="failed" open hidden><summary id="failed-title"></summary><ul id="failed-list"></ul></details>
        <main>
        <section id="listing" aria-labelledby="listing-title">
        <h2 id="listing-title" class="vh">Exchanges</h2>
        <div id="list" role="grid" tabindex="0" aria-labelledby="listing-title" aria-rowcount="1">
        <div id="head" role="rowgroup"><div role="row" class="row" aria-rowindex="1">
        <span role="columnheader" class="c-id">#</span><span role="columnheader" class="c-method">Method</span>
        <span role="columnheader" class="c-status">Status</span><span role="columnheader" class="c-marks"><span
        class="vh">Remarks</span></span><span role="columnheader" class="c-host">Host</span>
        <span role="columnheader" class="c-path">Path</span><span role="columnheader" class="c-type">Type</span>
        <span role="columnheader" class="c-size">Size</span><span role="columnheader" class="c-time">Time</span>
        <span role="columnheader" class="c-fall" id="fall">Waterfall <span id="span" class="faint"></span></span>
        </div></div>
        <div id="rows" role="rowgroup"></div>
        </div>
        <p id="none" class="none" hidden>No exchange fits the filter.</p>
        <p id="legend" class="faint"></p>
        </section>
        <section id="details" aria-labelledby="detail-title" hidden></section>
        </main>
        <dialog id="about" aria-labelledby="about-title">
        <div class="dialog-head"><h2 id="about-title">About this session</h2>
        <button type="button" class="close">Close</button></div>
        <div id="about-content"></div>
        </dialog>
        <dialog id="keys" aria-labelledby="keys-title">
        <div class="dialog-head"><h2 id="keys-title">Keys</h2>
        <button type="button" class="close">Close</button></div>
        <dl class="keys">
        <dt><kbd>↑</kbd> <kbd>↓</kbd> <kbd>k</kbd> <kbd>j</kbd></dt><dd>the exchange before, the next one</dd>
        <dt><kbd>Home</kbd> <kbd>End</kbd> <kbd>g</kbd> <kbd>G</kbd></dt><dd>in the list: the first, the last</dd>
        <dt><kbd>Enter</kbd></dt><dd>open the exchange; <kbd>Space</kbd> opens it and stays in the list</dd>
        <dt><kbd>Esc</kbd></dt><dd>close the exchange; in the filter, empty it</dd>
        <dt><kbd>/</kbd></dt><dd>filter</dd>
        <dt><kbd>e</kbd></dt><dd>errors only, or all</dd>
        <dt><kbd>i</kbd></dt><dd>about this session: who recorded it, the rules, what is masked</dd>
        <dt><kbd>?</kbd></dt><dd>these keys</dd>
        </dl>
        <h3>Words of the filter</h3>
        <dl class="keys">
        <dt><kbd>login</kbd> <kbd>"a b"</kbd></dt><dd>in the URL</dd>
        <dt><kbd>status:5xx</kbd></dt><dd>also <kbd>status:404</kbd>, <kbd>status:&gt;=400</kbd>,
        <kbd>status:404,500..599</kbd></dd>
        <dt><kbd>time:&gt;500ms</kbd></dt><dd>also <kbd>size:&gt;1mb</kbd>, <kbd>messages:&gt;10</kbd>,
        <kbd>id:10..20</kbd></dd>
        <dt><kbd>method:POST</kbd></dt><dd>also <kbd>host:*.example.com</kbd>, <kbd>path:/v1/*</kbd>, <kbd>query:</kbd>,
        <kbd>type:json</kbd>, <kbd>grpc:</kbd>, <kbd>ip:</kbd>, <kbd>process:</kbd>, <kbd>version:h2</kbd>,
        <kbd>comment:</kbd></dd>
        <dt><kbd>body:"out of stock"</kbd></dt><dd>also <kbd>reqbody:</kbd>, <kbd>resbody:</kbd>; as far as the page has
        the bodies</dd>
        <dt><kbd>header:"server: nginx"</kbd></dt><dd>also <kbd>reqheader:</kbd>, <kbd>resheader:</kbd></dd>
        <dt><kbd>is:error</kbd></dt><dd>also <kbd>is:changed</kbd>, <kbd>is:local</kbd>, <kbd>is:masked</kbd>,
        <kbd>is:failed</kbd>, <kbd>is:websocket</kbd></dd>
        <dt><kbd>-word</kbd> <kbd>not host:cdn</kbd></dt><dd>those that it is not true for</dd>
        <dt><kbd>(a or b) c</kbd></dt><dd>a or b, and c</dd>
        </dl>
        <h3>Signs in the list</h3>
        <dl class="keys">
        <dt>~</dt><dd>changed by a rule, or answered in place of the server</dd><dt>#</dt><dd>denied by a rule</dd>
        <dt>!</dt><dd>failed</dd><dt>=</dt><dd>was held at a breakpoint</dd>
        <dt>…</dt><dd>in flight</dd><dt>g</dt><dd>gRPC status other than OK</dd><dt>“</dt><dd>has a comment</dd>
        </dl>
        </dialog>

        """#
    }

    /// Everything after the data.
    static let end = "<script>\(PageScript.text)</script>\n</body>\n</html>\n"
}
