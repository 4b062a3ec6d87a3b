/** Registers the gateway as a client at an authorization server (RFC 7591; OpenID Connect Dynamic Client Registration §2). */
import { z } from 'zod';
import { describeClient, methodOf } from './client-document.ts';
import {
  GrantRefused,
  type Authorizer,
  type ClientMethod,
  type UpstreamClient,
} from './code-flow-schema.ts';
import type { Fetch } from './resource-metadata.ts';
import { toRefusal, unusable } from './token-answer.ts';

const METHODS = {
  none: 'none',
  basic: 'client_secret_basic',
  post: 'client_secret_post',
} as const satisfies Record<ClientMethod, string>;

const text = z
  .string()
  .max(4_096)
  .regex(/^[\x20-\x7e]+$/);
/** The only fields of the response that are used. The expiry of a secret is not stored: `invalid_client` reveals it. */
const AnswerSchema = z.object({
  client_id: text,
  client_secret: text.nullish(),
  token_endpoint_auth_method: z.string().nullish(),
});

/**
 * @param given.clientUri the gateway's own URL
 * @throws GrantRefused, PorticoError `credential_unavailable`
 */
export async function registerClient(
  { metadata }: Authorizer,
  { redirectUri, clientUri }: { redirectUri: string; clientUri: string },
  fetch: Fetch,
): Promise<UpstreamClient> {
  const { registration_endpoint: endpoint } = metadata;
  const wanted = methodOf(metadata);
  if (endpoint === undefined || wanted === undefined) {
    throw new GrantRefused(
      'other',
      'The authorization server does not register clients like this one',
    );
  }
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      ...describeClient(clientUri, redirectUri),
      token_endpoint_auth_method: METHODS[wanted],
    }),
  });
  const body: unknown = await response.json().catch(() => undefined);
  const refused = toRefusal(response.status, body, true);
  if (refused) {
    throw new GrantRefused(
      refused.reason,
      `The authorization server does not register this gateway${
        refused.reason === 'other' ? '' : `: ${refused.reason}`
      }`,
    );
  }
  const { data } = AnswerSchema.safeParse(body);
  if (![200, 201].includes(response.status) || !data) throw unusable();
  const method = methodIn(data.token_endpoint_auth_method ?? METHODS[wanted]);
  const clientSecret = method === 'none' ? undefined : (data.client_secret ?? undefined);
  if (method === undefined || (method !== 'none' && clientSecret === undefined)) {
    throw new GrantRefused('other', 'The authorization server requires a client of another kind');
  }
  return { clientId: data.client_id, clientSecret, method, source: 'registered' };
}

function methodIn(name: string): ClientMethod | undefined {
  if (name === METHODS.none) return 'none';
  if (name === METHODS.basic) return 'basic';
  return name === METHODS.post ? 'post' : undefined;
}
