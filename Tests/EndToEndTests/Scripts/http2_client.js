// What Node does over HTTP/2 through a proxy's tunnel: its http2 module, and its fetch.
//
// usage: http2_client.js HOST:PORT PROXY-PORT   (0: no proxy; NODE_EXTRA_CA_CERTS names the authority)
//
// The server is h2_server.py. Prints one line of JSON.
const http = require("http");
const http2 = require("http2");
const net = require("net");
const tls = require("tls");

const [target, proxy] = process.argv.slice(2);
const [host, port] = target.split(":");

function tunnel() {
  if (proxy === "0") return new Promise((done) => { const socket = net.connect(port, host, () => done(socket)); });
  return new Promise((done, failed) => {
    const request = http.request({ host: "127.0.0.1", port: proxy, method: "CONNECT", path: target });
    request.on("connect", (response, socket) =>
      response.statusCode === 200 ? done(socket) : failed(new Error(`CONNECT: ${response.statusCode}`)));
    request.on("error", failed).end();
  });
}

async function secure(protocols) {
  const socket = await tunnel();
  return new Promise((done, failed) => {
    const connection = tls.connect({ socket, servername: host, ALPNProtocols: protocols }, () => done(connection));
    connection.on("error", failed);
  });
}

function ask(session, fields, body) {
  return new Promise((done) => {
    const stream = session.request(fields);
    const answer = { text: "" };
    stream.on("response", (head) => { answer.status = head[":status"]; });
    stream.on("headers", (head) => { answer.interim = head[":status"]; });
    stream.on("trailers", (fields) => { answer.trailers = fields["x-checksum"]; });
    stream.on("data", (piece) => { answer.text += piece; });
    stream.on("close", () => { answer.code = stream.rstCode; done(answer); });
    stream.on("error", () => {});
    stream.end(body);
  });
}

async function overHTTP2() {
  const socket = await secure(["h2"]);
  const session = http2.connect(`https://${target}`, { createConnection: () => socket });
  session.on("error", (error) => { console.error(error); process.exit(1); });
  const settings = await new Promise((done) => session.once("remoteSettings", done));
  const results = {
    hello: await ask(session, { ":path": "/hello" }),
    echo: await ask(session, { ":path": "/echo", ":method": "POST" }, "from node"),
    trailers: await ask(session, { ":path": "/trailers" }),
    early: await ask(session, { ":path": "/early" }),
    reset: await ask(session, { ":path": "/reset/8" }),
    push: settings.enablePush,
  };
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) =>
    ask(session, { ":path": "/echo", ":method": "POST" }, `body ${index}`)));
  results.parallel = answers.filter((answer, index) => answer.text === `body ${index}`).length;
  await new Promise((done) => session.ping((error) => { results.ping = !error; done(); }));
  await new Promise((done) => session.close(done));
  return results;
}

// fetch goes through a proxy by a dispatcher of our own; its class is that of the one Node has by default. Debian's Node
// does not tell its version of undici, which is one that fetches over HTTP/1.1 only.
async function overFetch() {
  await fetch("data:,");
  const Agent = globalThis[Symbol.for("undici.globalDispatcher.1")].constructor;
  const [major, minor] = (process.versions.undici ?? "0.0").split(".").map(Number);
  const allowH2 = major > 5 || (major === 5 && minor >= 23);
  let protocol;
  const connect = (_, done) => {
    secure(allowH2 ? ["h2", "http/1.1"] : ["http/1.1"]).then((socket) => {
      protocol = socket.alpnProtocol;
      done(null, socket);
    }, done);
  };
  const dispatcher = new Agent({ connect, allowH2 });
  const answer = await fetch(`https://${target}/hello`, { dispatcher });
  const text = await answer.text();
  const echo = await fetch(`https://${target}/echo`, { dispatcher, method: "POST", body: "fetched" });
  const echoed = await echo.text();
  await dispatcher.close();
  return { protocol, text, echoed };
}

(async () => {
  const results = { http2: await overHTTP2(), fetch: await overFetch() };
  console.log(JSON.stringify(results));
})().catch((error) => { console.error(error); process.exitCode = 1; });
