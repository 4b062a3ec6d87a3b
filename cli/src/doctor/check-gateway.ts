/** Checks of the gateway: whether it responds, whether it is one, clock difference, token scopes and the state of servers. */
import { IMPLEMENTATION, isObject } from '../../../src/shared/protocol.ts';
import { Api, OWN_TOKEN, SERVERS, type OwnToken, type ServerRecord } from '../gateway/api.ts';
import { listApprovals, toHeldText, type Approval } from '../gateway/approvals.ts';
import type { TokenSource } from '../login/token-source.ts';
import { checkKeys } from './check-keys.ts';
import { checkModel } from './check-model.ts';
import { failed, ok, skipped, type Finding } from './finding.ts';

/** With a larger difference, tokens do not expire when this machine expects it. */
const MAX_CLOCK_SECONDS = 60;
const MAX_TEXT_CHARS = 4_096;
/** What a gateway says of itself. */
const WORD = /^[a-z_]{1,40}$/;
const GOOD = new Set(['CONNECTED', 'DISCONNECTED', 'CONNECTING']);

/**
 * @param token undefined where none is given
 * @param now clock, milliseconds since the epoch
 */
export async function checkGateway(
  url: URL,
  token: TokenSource | undefined,
  now: () => number,
): Promise<Finding[]> {
  const api = new Api(url, token);
  let health: Response;
  try {
    health = await api.send('GET', '/health');
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const [detail = said] = said.split('; ');
    const advice = 'start it, or name it with --url or PORTICO_URL';
    return [failed('gateway', detail, advice), ...notAsked('the gateway cannot be reached')];
  }
  const seenAt = now();
  const { version, status } = await readHealth(health);
  if (version !== undefined && status !== 'ok') {
    const advice = 'look at its log, then ask again';
    return [
      failed('gateway', `it answers ${status}`, advice),
      ...notAsked('the gateway is not in order'),
    ];
  }
  if (version === undefined) {
    const what = `another program answers at ${url.origin} (${health.status})`;
    const advice = 'free the port, or start the gateway on another and name it with --url';
    return [failed('gateway', what, advice), ...notAsked('no gateway answers')];
  }
  return [
    ok('gateway', `${url.origin} answers`),
    checkVersion(version),
    checkClock(health.headers.get('date'), seenAt),
    ...(await checkToken(api, token)),
  ];
}

const notAsked = (why: string) =>
  ['version', 'clock', 'token', 'servers'].map(check => skipped(check, why));

/** Reads the gateway's version and its own status; neither where the response is not a gateway's. */
async function readHealth(response: Response): Promise<{ version?: string; status?: string }> {
  try {
    const text = (await response.text()).slice(0, MAX_TEXT_CHARS);
    const body: unknown = JSON.parse(text);
    const { version, status } = isObject(body) ? body : {};
    const isGateway = typeof version === 'string' && WORD.test(String(status));
    return isGateway ? { version, status: String(status) } : {};
  } catch {
    return {};
  }
}

/** Before version 1.0 the first two numbers have to be the same, later the first. */
function checkVersion(version: string): Finding {
  const own = IMPLEMENTATION.version;
  const toFamily = (text: string) => /^(0\.\d+|\d+)/.exec(text)?.[0];
  if (toFamily(version) === toFamily(own)) return ok('version', version);
  const detail = `the gateway is ${version}, this command ${own}`;
  return failed('version', detail, "install the gateway's version of portico-cli");
}

function checkClock(date: string | null, now: number): Finding {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return skipped('clock', 'the gateway does not report its time');
  const seconds = Math.round(Math.abs(now - theirs) / 1000);
  if (seconds <= MAX_CLOCK_SECONDS) return ok('clock', `${seconds} s apart`);
  const detail = `${seconds} s apart from the gateway`;
  return failed('clock', detail, 'synchronise the clock of this machine with a time server');
}

async function checkToken(api: Api, token: TokenSource | undefined): Promise<Finding[]> {
  if (token === undefined) {
    const advice = 'run portico login, set PORTICO_TOKEN or use --token-file';
    return [failed('token', 'none is given', advice), skipped('servers', 'a token is needed')];
  }
  const response = await api.send('GET', OWN_TOKEN);
  if (response.status === 401) {
    const advice = 'it is wrong, expired or revoked; create another with portico token create';
    return [
      failed('token', 'the gateway does not know it', advice),
      skipped('servers', 'a token is needed'),
    ];
  }
  if (!response.ok) {
    return [
      failed('token', `the gateway answered ${response.status}`, 'ask again in a moment'),
      skipped('servers', 'the token could not be checked'),
    ];
  }
  const { scopes = [], limited = false } = (await response.json()) as Partial<OwnToken>;
  const has = (scope: string) => scopes.includes(scope);
  if (!['tools:read', 'servers:read', 'admin'].some(has)) {
    const advice = 'create one with portico token create --scope tools:read --scope tools:call';
    return [
      failed('token', 'it may not even list tools', advice),
      skipped('servers', 'the token may not read servers'),
    ];
  }
  const valid = ok('token', `valid; ${scopes.join(', ')}${limited ? ', with limits' : ''}`);
  if (!has('servers:read') && !has('admin')) {
    return [valid, skipped('servers', 'the token may not read servers')];
  }
  const isAdmin = has('admin') && !limited;
  const kept = isAdmin ? [...(await checkKeys(api)), ...(await checkModel(api))] : [];
  return [valid, ...(await checkServers(api)), ...kept];
}

async function checkServers(api: Api): Promise<Finding[]> {
  const servers = await api.list<ServerRecord>(SERVERS, 'servers');
  const bad = servers.filter(({ status }) => !GOOD.has(status));
  const isHolding = servers.some(({ held_tools: held }) => held > 0);
  const waiting = Object.groupBy(
    isHolding ? await listApprovals(api) : [],
    held => held.server_name,
  );
  const holding = Object.entries(waiting).flatMap(([name, held = []]) => toHolding(name, held));
  if (bad.length > 0) return [...bad.map(toFinding), ...holding];
  const down = servers.filter(({ status }) => status !== 'CONNECTED').length;
  const note = down > 0 ? `, ${down} not connected` : '';
  return [ok('servers', `${servers.length - down} connected${note}`), ...holding];
}

function toHolding(server: string, waiting: readonly Approval[]): Finding[] {
  const held = toHeldText(waiting);
  const advice = `see portico approvals, then portico approvals approve --server ${server}`;
  return held === undefined ? [] : [failed(`server ${server}`, held, advice)];
}

function toFinding({ name, status, last_error: problem }: ServerRecord): Finding {
  const detail = `${status}: ${problem ?? 'no reason is known'}`;
  return failed(`server ${name}`, detail, `fix it, then run portico servers connect ${name}`);
}
