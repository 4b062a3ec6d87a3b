/** What an authorised program gets: an access token for the whole gateway, in place of the person's own token. */
import { createHash, randomBytes } from 'node:crypto';
import { Person } from '../../fixtures/person.ts';

const REDIRECT = 'https://program.example.com/callback';

async function post<T>(url: string, body: URLSearchParams | string): Promise<T> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const answer = await fetch(url, { method: 'POST', headers, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

/** A program that registered itself and can be authorised repeatedly. */
interface LetIn {
  clientId: string;
  /** Gets another grant. @returns its tokens */
  again(): Promise<{ access_token: string; refresh_token: string }>;
}

/** Registers a program that `person` authorises. */
export async function letInWith(origin: string, person: Person): Promise<LetIn> {
  const metadata = { client_name: 'A program', redirect_uris: [REDIRECT] };
  const registered = await post<{ client_id: string }>(
    `${origin}/register`,
    JSON.stringify({ ...metadata, token_endpoint_auth_method: 'none' }),
  );
  const client = { client_id: registered.client_id, redirect_uri: REDIRECT };
  const again = async () => {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      ...client,
      response_type: 'code',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const answer = new URL(await person.allow(`${origin}/authorize?${query}`));
    const code = answer.searchParams.get('code') ?? '';
    const fields = { ...client, grant_type: 'authorization_code', code, code_verifier: verifier };
    return post<Awaited<ReturnType<LetIn['again']>>>(
      `${origin}/token`,
      new URLSearchParams(fields),
    );
  };
  return { clientId: client.client_id, again };
}

/** Returns the access token of a program that is authorised once. @param token of a person, pasted to sign in */
export async function letIn(origin: string, token: string): Promise<string> {
  return (await (await letInWith(origin, new Person(token))).again()).access_token;
}
