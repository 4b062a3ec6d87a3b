/** People's own tokens: requested with a token, or by a page of the gateway in a browser. */
import { expect } from 'vitest';
import type { Browser } from './browser.ts';
import { createPortico, legacy, ORIGIN } from './portico.ts';
import { createRecords } from './records.ts';

export interface Token {
  id: string;
  token: string;
  name: string;
  principal: string;
  servers: string[] | null;
  tools: string[] | null;
  toolsets: string[] | null;
  scopes: string[];
  expires_at: string | null;
  made_by: string | null;
}

export const TOKENS = '/api/v1/tokens';
const portico = createPortico();
/** As administrators see them. */
export const tokens = createRecords<Token>(portico, TOKENS);
export const principals = createRecords<{ id: string }>(portico, '/api/v1/principals');

/** Whether an isolate without a cache accepts a token. */
export const works = async (token: string): Promise<boolean> =>
  (await createPortico().post(legacy('ping'), { token })).status === 200;

/** A request with a token, and its response. */
export async function ask(token: string, method: string, path: string, body?: object) {
  const response = await portico.api(method, path, body, { token });
  const text = await response.text();
  const json = (text === '' ? {} : JSON.parse(text)) as Partial<Token> & {
    code?: string;
    tokens?: Token[];
    total?: number;
    errors?: { field: string; message: string }[];
  };
  return { status: response.status, ...json };
}
export async function make(token: string, body: object = {}): Promise<Token> {
  const { status, ...made } = await ask(token, 'POST', TOKENS, { name: 'client', ...body });
  expect(status).toBe(201);
  return made as Token;
}

/** A person with a token. */
export async function person(more: object = {}): Promise<Token> {
  const { id } = await principals.create({ name: 'Ada' });
  return tokens.create({ name: 'hers', principal: id, ...more });
}
/** A request as from a page of the gateway, in a browser in which somebody is signed in. */
export async function bySignIn({ cookie }: Browser, method: string, path: string, body?: object) {
  const headers = {
    cookie,
    origin: ORIGIN,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  };
  const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await portico.fetch(path, init);
  return { status: response.status, json: await response.json<Token & { tokens?: Token[] }>() };
}
