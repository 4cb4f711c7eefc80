// Fetches a URL through a proxy, and posts to it, with Node's own modules.
//
// usage: node client.js PROXY-PORT URL
"use strict";

const http = require("http");
const https = require("https");

const [proxy, base] = process.argv.slice(2);
const url = new URL(base);

/// Opens a tunnel to the server, or nothing where it is asked in the clear.
function tunnel() {
  if (url.protocol === "http:") return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port: proxy, method: "CONNECT", path: url.host });
    request.on("error", reject);
    request.on("connect", (response, socket) => {
      if (response.statusCode === 200) resolve(socket);
      else reject(new Error(`CONNECT was answered ${response.statusCode}`));
    });
    request.end();
  });
}

async function send(method, path, body) {
  const socket = await tunnel();
  const options = socket
    ? { socket, agent: false, servername: url.hostname, host: url.hostname, port: url.port, path, method }
    : { host: "127.0.0.1", port: proxy, path: base + path, method, headers: { Host: url.host } };
  return new Promise((resolve, reject) => {
    const request = (socket ? https : http).request(options, (response) => {
      let text = "";
      response.on("data", (data) => (text += data));
      response.on("end", () => resolve(text));
    });
    request.on("error", reject);
    if (body) request.write(body);
    request.end();
  });
}

(async () => {
  const fetched = await send("GET", "/from?node");
  const posted = await send("POST", "/from", "hello");
  process.stdout.write(`${fetched} ${posted}`);
  process.exit(0);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
