/**
 * What the connector says to the gateway over plain HTTP: enrol this machine, and tell what it offers. Answers are bounded in
 * time and size, redirects are not followed, and what the gateway says about a failure is cut to one line.
 */
import { z } from 'zod';
import { BodyTooLarge, readText } from '../../../src/http/read-text.ts';
import { EXIT, Failure } from '../failure.ts';
import { REVOKED_TEXT } from './ending.ts';
import { toLine } from './one-line.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_DETAIL_CHARS = 200;

/** The gateway cannot be reached, or has a bad moment: worth another try. The message goes on after its address. */
export class Unreachable extends Error {}

/** What answers there is no gateway, or does not want this request. */
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

/** What became of what was offered. */
export type Told = z.infer<typeof ToldSchema>;
export type Enrolled = z.infer<typeof EnrolledSchema>;

/** Servers that the gateway takes in one request. */
const AT_ONCE = 100;

/**
 * Tell the gateway which servers this connector offers; to tell it again is harmless.
 * @throws Failure where it makes no sense to come back; Unreachable where it does
 */
export async function tellServers(
  origin: string,
  token: string,
  servers: readonly { name: string; description: string }[],
  signal: AbortSignal,
): Promise<Told> {
  const url = `${origin}/api/v1/connectors/self/servers`;
  const part = { servers: servers.slice(0, AT_ONCE) };
  const { status, text } = await ask('PUT', url, token, part, signal);
  if (status === 401) throw new Failure(REVOKED_TEXT, EXIT.denied);
  if (status !== 200) throw toError(origin, status, text);
  const told = parse(ToldSchema, origin, text);
  const others = servers.slice(AT_ONCE);
  if (others.length === 0) return told;
  const more = await tellServers(origin, token, others, signal);
  return { ...told, servers: [...told.servers, ...more.servers] };
}

/**
 * Make this machine a connector.
 * @param adminToken may write servers
 * @returns undefined where there is a connector of this name
 * @throws Failure
 */
export function enrol(
  origin: string,
  adminToken: string,
  name: string,
): Promise<Enrolled | undefined> {
  return issue(origin, '/api/v1/connectors', adminToken, { name });
}

/**
 * Get another device token for a connector: the one before, and who has it, are sent away. Its servers stay.
 * @throws Failure
 */
export async function takeOver(
  origin: string,
  adminToken: string,
  name: string,
): Promise<Enrolled> {
  const path = `/api/v1/connectors/${encodeURIComponent(name)}/rotate`;
  const enrolled = await issue(origin, path, adminToken, undefined);
  if (enrolled) return enrolled;
  throw new Failure(`the gateway is busy with the connector '${name}'; try again`);
}

/** @returns undefined where the gateway says that it conflicts with what is there */
async function issue(
  origin: string,
  path: string,
  adminToken: string,
  body: unknown,
): Promise<Enrolled | undefined> {
  try {
    const { status, text } = await ask('POST', `${origin}${path}`, adminToken, body);
    if (status === 201 || status === 200) return parse(EnrolledSchema, origin, text);
    if (status === 409) return undefined;
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

/** Why a request failed, in a word or two. */
function toCause(error: unknown): string {
  if (error instanceof BodyTooLarge) return 'its answer is too large';
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return code ?? error.message;
}

function toError(origin: string, status: number, text: string): Error {
  if (status >= 500 || status === 429) return new Unreachable(`answers ${status}`);
  if (status === 404) return new OddAnswer(`${origin} is no gateway that takes connectors`);
  const message = `${origin} answers ${status}${readDetail(text)}`;
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
  throw new OddAnswer(`${origin} does not answer as a gateway does`);
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
