/**
 * Cloudflare's API, as far as a deployment needs it. Every request has a bounded time; an answer that is no success becomes one line,
 * without the token. Nothing is tried again here: the whole command can be.
 */
import { z } from 'zod';
import { StartError } from '../local/start-error.ts';

export interface CloudflareOptions {
  /** `https://api.cloudflare.com/client/v4`, or another of the same form. */
  baseUrl: string;
  token: string;
}

export interface Cloudflare {
  /**
   * A request of the account's API.
   * @param what what it is for, as in "Creating the database"
   * @returns `result` of the answer
   * @throws CloudflareError
   */
  request(what: string, method: string, path: string, body?: unknown): Promise<unknown>;
  /** The same; undefined where there is no such thing. */
  find(what: string, path: string): Promise<unknown>;
}

/** Cloudflare refused, or could not be reached. */
export class CloudflareError extends StartError {
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** Codes of the API, see its documentation. */
  readonly codes: readonly number[];

  constructor(line: string, status: number, codes: readonly number[]) {
    super(line);
    this.name = 'CloudflareError';
    this.status = status;
    this.codes = codes;
  }
}

const TIMEOUT_MS = 30_000;
const MAX_TOLD_CHARS = 300;

const AnswerSchema = z.looseObject({
  success: z.boolean(),
  result: z.unknown(),
  errors: z
    .array(z.looseObject({ code: z.number().optional(), message: z.string().default('') }))
    .default([]),
});

export function createCloudflare({ baseUrl, token }: CloudflareOptions): Cloudflare {
  async function request(what: string, method: string, path: string, body?: unknown) {
    let response: Response;
    let text: string;
    try {
      response = await fetch(baseUrl + path, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await response.text();
    } catch (error) {
      const isSlow = error instanceof Error && error.name === 'TimeoutError';
      const why = isSlow ? `no answer in ${TIMEOUT_MS / 1_000} s` : reasonOf(error);
      throw new CloudflareError(`${what} failed: Cloudflare cannot be reached (${why})`, 0, []);
    }
    const answer = AnswerSchema.safeParse(toJson(text));
    if (answer.success && answer.data.success && response.ok) return answer.data.result;
    const errors = answer.success ? answer.data.errors : [];
    const codes = errors.flatMap(({ code }) => (code === undefined ? [] : [code]));
    const line = `${what} failed: ${explain(response.status, errors)}`;
    throw new CloudflareError(line, response.status, codes);
  }
  return {
    request,
    async find(what, path) {
      try {
        return await request(what, 'GET', path);
      } catch (error) {
        if (error instanceof CloudflareError && error.status === 404) return undefined;
        throw error;
      }
    },
  };
}

function explain(
  status: number,
  errors: readonly { code?: number | undefined; message: string }[],
) {
  const [first] = errors;
  const code = first?.code === undefined ? '' : ` (${first.code})`;
  const told = first ? `${first.message.slice(0, MAX_TOLD_CHARS)}${code}` : `HTTP ${status}`;
  if (status === 401) return `${told}. CLOUDFLARE_API_TOKEN is not valid`;
  if (status === 403) return `${told}. CLOUDFLARE_API_TOKEN lacks a permission: see --help`;
  if (status === 429) return `${told}. Too many requests: wait five minutes`;
  return told;
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : 'the connection failed';
}
