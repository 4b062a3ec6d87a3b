/**
 * The connector's requests to the gateway's REST API: enrol this machine, and send the list of its servers. Responses are bounded in time
 * and size, redirects are not followed, and error details are cut to one line.
 */
import { z } from 'zod';
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';
import { EXIT, Failure } from '../failure.ts';
import { REVOKED_TEXT } from './ending.ts';
import { toLine } from './one-line.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_DETAIL_CHARS = 200;

/** The gateway cannot be reached, or fails temporarily: worth a retry. The message continues after its address. */
export class Unreachable extends Error {}

/** The responding program is no gateway, or refuses this request. */
export class OddAnswer extends Failure {}

const connector = z.object({ id: z.string(), name: z.string() });
const EnrolledSchema = z.object({ connector, token: z.string() });
const ToldSchema = z.object({
  connector,
  servers: z.array(
    z.object({
      name: z.string(),
      id: z.string().nullable(),
      registered_as: z.string().nullish(),
      problem: z.string().nullish(),
    }),
  ),
});
const ProblemSchema = z.object({ detail: z.string().optional(), title: z.string().optional() });

/** The gateway's response to the list of servers. */
export type Told = z.infer<typeof ToldSchema>;
export type Enrolled = z.infer<typeof EnrolledSchema>;

const SELF_PATH = '/api/v1/connectors/self/servers';
/** Most servers in one request. */
const AT_ONCE = 100;

/**
 * Sends the list of this connector's servers to the gateway; repeating it is harmless.
 * @throws Failure where a retry makes no sense; Unreachable where it does
 */
export async function tellServers(
  origin: string,
  token: string,
  servers: readonly { name: string; description: string }[],
  signal: AbortSignal,
): Promise<Told> {
  const part = { servers: servers.slice(0, AT_ONCE) };
  const { status, text } = await ask('PUT', `${origin}${SELF_PATH}`, token, part, signal);
  if (status === 401) throw new Failure(REVOKED_TEXT, EXIT.denied);
  if (status !== 200) throw toError(origin, status, text);
  const told = parse(ToldSchema, origin, text);
  const others = servers.slice(AT_ONCE);
  if (others.length === 0) return told;
  const more = await tellServers(origin, token, others, signal);
  return { ...told, servers: [...told.servers, ...more.servers] };
}

/** Whether a device token is still the one of its connector. @throws Unreachable */
export async function isAccepted(origin: string, token: string): Promise<boolean> {
  return (await ask('PUT', `${origin}${SELF_PATH}`, token, { servers: [] })).status !== 401;
}

/**
 * Makes this machine a connector.
 * @param adminToken a token that may write servers
 * @returns undefined where a connector of this name exists, or there are too many
 * @throws Failure
 */
export function enrol(
  origin: string,
  adminToken: string,
  name: string,
): Promise<Enrolled | undefined> {
  return issue(origin, '/api/v1/connectors', adminToken, 409, { name });
}

/**
 * Gets a new device token for a connector that `enrol` did not make: the former token is revoked and its connection closed. Its servers
 * stay.
 * @throws Failure
 */
export async function takeOver(
  origin: string,
  adminToken: string,
  name: string,
): Promise<Enrolled> {
  const path = `/api/v1/connectors/${encodeURIComponent(name)}/rotate`;
  const enrolled = await issue(origin, path, adminToken, 404);
  if (enrolled) return enrolled;
  throw new Failure(
    `the gateway has no connector '${name}', and no room for another; remove one with portico connectors remove`,
  );
}

/** @returns undefined for a response with the status `none` */
async function issue(
  origin: string,
  path: string,
  adminToken: string,
  none: number,
  body?: unknown,
): Promise<Enrolled | undefined> {
  try {
    const { status, text } = await ask('POST', `${origin}${path}`, adminToken, body);
    if (status === 201 || status === 200) return parse(EnrolledSchema, origin, text);
    if (status === none) return undefined;
    if (status === 401) throw new Failure('the gateway does not know this token', EXIT.denied);
    throw toError(origin, status, text);
  } catch (error) {
    throw error instanceof Unreachable ? new Failure(`${origin} ${error.message}`) : error;
  }
}

async function ask(
  method: string,
  url: string,
  token: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<{ status: number; text: string }> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const text = await readText(response, response.headers, MAX_ANSWER_BYTES);
    return { status: response.status, text };
  } catch (error) {
    throw new Unreachable(`cannot be reached (${toCause(error)})`);
  }
}

/** Says why a request failed, in a few words. */
function toCause(error: unknown): string {
  if (error instanceof BodyTooLarge) return 'its response is too large';
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return 'no response in time';
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return code ?? error.message;
}

function toError(origin: string, status: number, text: string): Error {
  if (status >= 500 || status === 429) return new Unreachable(`answered ${status}`);
  if (status === 404) return new OddAnswer(`${origin} is not a gateway that supports connectors`);
  const message = `${origin} answered ${status}${readDetail(text)}`;
  return new OddAnswer(message, status === 401 || status === 403 ? EXIT.denied : EXIT.failed);
}

function readDetail(text: string): string {
  const problem = ProblemSchema.safeParse(tryJson(text)).data;
  const detail = problem?.detail ?? problem?.title;
  return detail === undefined ? '' : `: ${toLine(detail, MAX_DETAIL_CHARS)}`;
}

function parse<T>(schema: z.ZodType<T>, origin: string, text: string): T {
  const parsed = schema.safeParse(tryJson(text));
  if (parsed.success) return parsed.data;
  throw new OddAnswer(`${origin} sent an unexpected response; is it a Portico gateway?`);
}
