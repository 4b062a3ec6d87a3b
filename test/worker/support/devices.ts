/** A program that shows a device code (RFC 8628), and the person who types it, as far as the authorization server sees them. */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import type { Browser } from './browser.ts';
import { askForTokens, createClient, signIn } from './oauth-client.ts';
import { createToken, type Portico } from './portico.ts';

export const LOOPBACK = 'http://127.0.0.1/callback';
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The texts that a program shows. */
export interface Shown {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

export interface DeviceStand {
  clientId: string;
  /** Of the person, who is signed in with the browser. */
  token: string;
  browser: Browser;
  begin(more?: Record<string, string>): Promise<Response>;
  show(more?: Record<string, string>): Promise<Shown>;
  poll(code: string, more?: Record<string, string>): Promise<Response>;
  type(code: string, by?: Browser): Promise<Response>;
  decide(handle: string, decision: string, by?: Browser): Promise<Response>;
  /** The person types the code and allows the request. */
  letIn(code: string, by?: Browser): Promise<void>;
  /** How many of its device codes are pending. */
  waiting(): Promise<number | null>;
}

export const handleOf = (page: string): string =>
  /name="handle" value="([^"]+)"/.exec(page)?.[1] ?? '';

export async function createDeviceStand(portico: Portico): Promise<DeviceStand> {
  const clientId = await createClient(undefined, [LOOPBACK]);
  const { token } = await createToken(portico, { name: 'Ada' });
  const browser = await signIn(portico, token);
  const stand: DeviceStand = {
    clientId,
    token,
    browser,
    begin: more => askForTokens(portico, { client_id: clientId, ...more }, '/device_authorization'),
    show: async more => (await stand.begin(more)).json<Shown>(),
    poll: (code, more) =>
      askForTokens(portico, {
        grant_type: DEVICE_GRANT,
        client_id: clientId,
        device_code: code,
        ...more,
      }),
    type: (code, by = browser) => by.post('/device', { user_code: code }),
    decide: (handle, decision, by = browser) => by.post('/device', { handle, decision }),
    async letIn(code, by = browser) {
      const page = await (await stand.type(code, by)).text();
      const answer = await stand.decide(handleOf(page), 'allow', by);
      expect([answer.status, await answer.text()]).toEqual([
        200,
        expect.stringContaining('Allowed'),
      ]);
    },
    waiting: () =>
      env.DB.prepare('SELECT count(*) AS n FROM oauth_devices WHERE client_id = ?')
        .bind(clientId)
        .first<number>('n'),
  };
  return stand;
}
