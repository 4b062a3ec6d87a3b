/**
 * `node server/healthy.mjs [PORT]`: ends with 0 where the gateway on this machine can serve, else with 1 and a line that says why. Asks
 * under the name of PORTICO_PUBLIC_URL, since the gateway answers to no other.
 */
import { get } from 'node:http';

const TIMEOUT_MS = 4_000;

/** @param {string} line */
function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

const { host } =
  URL.parse(process.env.PORTICO_PUBLIC_URL ?? '') ?? fail('PORTICO_PUBLIC_URL is not set');
const port = Number(process.argv[2] ?? 8787);
const options = {
  host: '127.0.0.1',
  port,
  path: '/health/ready',
  headers: { host },
  timeout: TIMEOUT_MS,
};
const request = get(options, response => {
  response.setEncoding('utf8');
  let text = '';
  response.on('data', chunk => (text += chunk));
  response.on('end', () => (response.statusCode === 200 ? process.exit(0) : fail(text)));
});
request.on('timeout', () => fail('no answer in time'));
request.on('error', error => fail(error.message));
