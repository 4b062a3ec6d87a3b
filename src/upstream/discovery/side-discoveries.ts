/**
 * Discovers what a server offers beyond its first discovery: to clients with capabilities, in sessions of their own, and in the legacy era
 * if the server is modern. Sessions are opened for a discovery and ended after it; the monitor's own session declares no capabilities.
 *
 * Invariants: a failure here fails no discovery; a server is discovered in a bounded number of sessions, two if nothing differs.
 */
import { type Conditions, type Kind, KINDS } from '../../servers/catalog/catalog.ts';
import { toConditions, type ClientView } from '../../servers/catalog/client-views.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { LATEST_LEGACY_VERSION, type JsonObject } from '../../shared/protocol.ts';
import { parsePlace } from '../../servers/registry/connector-place.ts';
import type { ServerProtocol } from '../../servers/registry/server-schema.ts';
import {
  CLIENT_FEATURES,
  declaring,
  FEATURE_SETS,
  type ClientFeature,
} from '../../shared/client-capabilities.ts';
import { createHttpChannel, type Channel } from '../session/channel.ts';
import { createDeadline, type Deadline } from '../../http/deadline.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { discover, type Discovered } from './discover.ts';
import { endSession } from '../session/end-session.ts';
import { SessionForgotten } from '../exchange.ts';
import { initializeHttp, initializeSse } from '../session/handshake.ts';
import type { Negotiated } from './negotiate.ts';
import { requestHeaders, type NegotiatedProtocol } from '../protocol/wire-request.ts';

/** What the side discoveries found. */
export interface Aside {
  /** Items that the first discovery did not find, raw, by kind. */
  more: Partial<Record<Kind, readonly string[]>>;
  conditions: Conditions | undefined;
  /** How a modern server speaks the legacy era, if it does. */
  legacy: ServerProtocol['legacy'];
  /** The capabilities that it advertises there. */
  legacyCapabilities: JsonObject | undefined;
}

export const NOTHING_ASIDE: Aside = {
  more: {},
  conditions: undefined,
  legacy: undefined,
  legacyCapabilities: undefined,
};

/** For a connector's program that may speak the legacy era but has no process for it now: its legacy clients find out. */
export const ASLEEP: Aside = {
  ...NOTHING_ASIDE,
  legacy: { protocolVersion: LATEST_LEGACY_VERSION, sessionful: true },
};

/** Longest time of all side discoveries at a server, in milliseconds. */
const ASIDE_MS = 8_000;
/** Time in which a modern server has to answer the legacy handshake, in milliseconds; without an answer nothing is known. */
const OTHER_ERA_MS = 2_000;
/** Lists that may depend on the client. */
const CLIENT_DEPENDENT: readonly Kind[] = ['tools', 'prompts'];
/** Errors by which a modern server says that it does not speak the legacy era; all others may be temporary. */
const REFUSALS = new Set([
  'upstream_4xx',
  'upstream_bad_content_type',
  'upstream_bad_json',
  'upstream_bad_message',
  'upstream_no_response',
]);

/** A session at the server that was opened for a discovery. */
interface SideSession {
  protocolVersion: string;
  isKept: boolean;
  capabilities: JsonObject;
  channel: Channel;
  end(): void;
}

/**
 * @param first what the first discovery found
 * @returns undefined if the side discoveries failed, from which nothing follows
 */
export async function discoverAside(
  endpoint: UpstreamEndpoint,
  { verdict }: Negotiated,
  first: Discovered,
  maxBytes: number,
): Promise<Aside | undefined> {
  if (verdict.era === 'legacy' && !verdict.sessionful) return NOTHING_ASIDE;
  const deadline = createDeadline(ASIDE_MS);
  const open = (features: readonly ClientFeature[], within = deadline) =>
    openSession(endpoint, verdict.transport, declaring(features), within, maxBytes);
  try {
    return await (verdict.era === 'modern'
      ? discoverInOtherEra(first, open, deadline, endpoint)
      : discoverAsOthers(first, open, deadline));
  } catch (thrown) {
    if (thrown instanceof PorticoError || thrown instanceof SessionForgotten) return undefined;
    throw thrown;
  } finally {
    deadline.release();
  }
}

type Open = (features: readonly ClientFeature[], within?: Deadline) => Promise<SideSession>;

/** Discovers a legacy server as clients with capabilities see it. */
async function discoverAsOthers(first: Discovered, open: Open, deadline: Deadline): Promise<Aside> {
  const plain: ClientView = { features: [], era: 'legacy', items: first.items };
  const others = await viewsOf(plain, open, deadline);
  return { ...NOTHING_ASIDE, ...toConditions([plain, ...others]) };
}

/** Discovers a modern server in the legacy era, if it speaks that and keeps sessions; otherwise its modern era has everything. */
async function discoverInOtherEra(
  first: Discovered,
  open: Open,
  deadline: Deadline,
  endpoint: UpstreamEndpoint,
): Promise<Aside> {
  const modern: ClientView = { features: [], era: 'modern', items: first.items };
  const sign = await signOfSessions(endpoint);
  if (sign === 'asleep') return ASLEEP;
  if (sign === 'none') return NOTHING_ASIDE;
  const found = await openLegacy(open);
  if (!found) return NOTHING_ASIDE;
  const { isKept, protocolVersion, capabilities } = found;
  const legacy = { protocolVersion, sessionful: isKept };
  if (!isKept) return { ...NOTHING_ASIDE, legacy };
  const plain = await viewOf(found, [], deadline);
  const others = await viewsOf(plain, open, deadline);
  const discovery = toConditions([modern, plain, ...others]);
  return { ...discovery, legacy, legacyCapabilities: capabilities };
}

/**
 * Finds out whether a modern server may keep sessions in the legacy era: one that does refuses a GET without a session (400). The handshake
 * of the other era must not be tried at a server that speaks only this one, since the server may hold it against its client. A connector
 * may also answer 428: its program may keep sessions, in a process of its own that is started for a legacy client and not for a discovery.
 */
async function signOfSessions(endpoint: UpstreamEndpoint): Promise<'may' | 'asleep' | 'none'> {
  const within = createDeadline(OTHER_ERA_MS);
  try {
    const protocol: NegotiatedProtocol = { era: 'legacy', protocolVersion: LATEST_LEGACY_VERSION };
    const response = await endpoint.fetch(endpoint.url, {
      headers: { ...requestHeaders(endpoint, protocol, ''), accept: 'text/event-stream' },
      redirect: 'manual',
      signal: within.signal,
    });
    response.body?.cancel().catch(() => {});
    if (response.status === 428 && parsePlace(endpoint.url)) return 'asleep';
    return response.status === 400 ? 'may' : 'none';
  } catch {
    throw within.explain(new PorticoError('upstream_unreachable'));
  } finally {
    within.release();
  }
}

/** Opens a legacy session at a modern server; undefined if the server says that it has none. */
async function openLegacy(open: Open): Promise<SideSession | undefined> {
  const within = createDeadline(OTHER_ERA_MS);
  try {
    return await open([], within);
  } catch (thrown) {
    if (thrown instanceof PorticoError && REFUSALS.has(thrown.code)) return undefined;
    throw thrown;
  } finally {
    within.release();
  }
}

/**
 * Discovers what a server offers to clients with capabilities: to one that has all of them; if that shows more than `plain`, to clients
 * with one feature each; and if these do not show all of it, to clients that lack one set of features each. Sessions of one step run at
 * once: a server may start a program for each.
 */
async function viewsOf(plain: ClientView, open: Open, deadline: Deadline): Promise<ClientView[]> {
  const see = async (features: readonly ClientFeature[]) =>
    viewOf(await open(features), features, deadline);
  const whole = await see(CLIENT_FEATURES);
  if (isWithin(whole, [plain])) return [whole];
  const alone = await allOf(CLIENT_FEATURES.map(feature => see([feature])));
  if (isWithin(whole, [plain, ...alone])) return [whole, ...alone];
  const lacking = FEATURE_SETS.map(set =>
    CLIENT_FEATURES.filter(feature => !set.includes(feature)),
  );
  return [whole, ...alone, ...(await allOf(lacking.map(see)))];
}

/** Returns all values; if one fails, throws only after the others have ended, since they need the deadline. */
async function allOf<T>(running: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

async function viewOf(
  session: SideSession,
  features: readonly ClientFeature[],
  deadline: Deadline,
): Promise<ClientView> {
  const { channel, capabilities } = session;
  const { tools = {}, prompts } = capabilities;
  const offered = prompts === undefined ? { tools } : { tools, prompts };
  try {
    const { items, failed } = await discover({ channel, deadline, hidden: [] }, offered);
    if (failed[0]) throw failed[0].error;
    return { features, era: 'legacy', items };
  } finally {
    session.end();
  }
}

/** Whether each item of a view is in one of the others too, by name. */
function isWithin({ items }: ClientView, others: readonly ClientView[]): boolean {
  return KINDS.every(kind => {
    if (!CLIENT_DEPENDENT.includes(kind)) return true;
    const known = new Set(others.flatMap(other => other.items[kind].map(keyText)));
    return items[kind].every(text => known.has(keyText(text)));
  });
}

const keyText = (text: string): string => String((JSON.parse(text) as JsonObject)['name']);

/** Opens a session, which the caller must end. @throws PorticoError with an `upstream_*` code */
export async function openSession(
  endpoint: UpstreamEndpoint,
  transport: ServerProtocol['transport'],
  declared: JsonObject,
  deadline: Deadline,
  maxBytes: number,
): Promise<SideSession> {
  if (transport === 'sse') {
    const found = await initializeSse(endpoint, { maxBytes }, deadline, declared);
    return { ...found, isKept: true, end: () => found.channel.close() };
  }
  const found = await initializeHttp(endpoint, deadline, maxBytes, declared);
  const { protocolVersion, sessionId = '', capabilities } = found;
  const channel = createHttpChannel(
    endpoint,
    { era: 'legacy', protocolVersion, sessionId },
    maxBytes,
  );
  const end = () => void endSession(endpoint, { sessionId, protocolVersion });
  return { protocolVersion, capabilities, isKept: sessionId !== '', channel, end };
}
