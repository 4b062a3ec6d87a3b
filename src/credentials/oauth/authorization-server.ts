/**
 * Reads the metadata of authorization servers (RFC 8414, OpenID Connect Discovery), at the places and in the order of MCP 2026-07-28,
 * Authorization Server Discovery. All requests use the given fetch. Refuses metadata of an issuer other than the requested one. Why:
 * docs/decisions/0053-discovery.md.
 */
import type { AuthorizationServer } from 'oauth4webapi';
import { z } from 'zod';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { readObject, type Fetch } from './resource-metadata.ts';

/** This authorization server is unsuitable, and retrying does not help; another one may be suitable. */
export class UnfitServer extends PorticoError {
  constructor(detail: string) {
    super('credential_unavailable', detail);
  }
}

const address = z.string().max(2_048).refine(URL.canParse).optional().catch(undefined);
const names = z.array(z.string().max(256)).max(256).optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

/** The metadata fields that are used. A field with an unexpected type counts as absent. */
const MetadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  registration_endpoint: address,
  revocation_endpoint: address,
  scopes_supported: names,
  token_endpoint_auth_methods_supported: names,
  code_challenge_methods_supported: names,
  authorization_response_iss_parameter_supported: flag,
  client_id_metadata_document_supported: flag,
});

/** Whether two texts name the same issuer. */
export type IssuerComparison = (issuer: string, named: string) => boolean;
/** Exact comparison, as RFC 8414 §3.3 requires and as `iss` is compared later. */
export const isExactly: IssuerComparison = (issuer, named) => issuer === named;
/** Comparison as URLs: a trailing slash after an origin makes no difference. For tokens without a browser, where no `iss` follows. */
export const isSameAddress: IssuerComparison = (issuer, named) =>
  URL.canParse(named) && new URL(issuer).href === new URL(named).href;

/**
 * Finds the first suitable issuer. One that is unreachable or fails does not lead to the next: otherwise people would be sent to another
 * authorization server whenever theirs is down.
 * @param check throws UnfitServer for an unsuitable one
 * @throws PorticoError `credential_unavailable`; UnfitServer with the reason of the first one if none is suitable
 */
export async function findServer<T>(
  issuers: readonly string[],
  fetch: Fetch,
  isSame: IssuerComparison,
  check: (metadata: AuthorizationServer) => T,
): Promise<T> {
  let reason: UnfitServer | undefined;
  for (const issuer of issuers) {
    try {
      return check(await readMetadata(issuer, fetch, isSame));
    } catch (error) {
      if (!(error instanceof UnfitServer)) throw error;
      reason ??= error;
    }
  }
  throw reason ?? new UnfitServer('The server names no authorization server');
}

async function readMetadata(
  issuer: string,
  fetch: Fetch,
  isSame: IssuerComparison,
): Promise<AuthorizationServer> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = new Set([
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]);
  let fails = false;
  for (const place of places) {
    const answer = await readObject(place, fetch);
    fails ||= (answer?.status ?? 0) >= 500;
    if (!answer?.json) continue;
    const { success, data } = MetadataSchema.safeParse(answer.json);
    if (!success || !isSame(issuer, data.issuer)) {
      throw new UnfitServer('The metadata of the authorization server names another issuer');
    }
    return withoutGaps(data);
  }
  if (fails) {
    throw new PorticoError(
      'credential_unavailable',
      'The authorization server is failing; try again later',
    );
  }
  throw new UnfitServer('The authorization server publishes no metadata');
}

const withoutGaps = (data: z.output<typeof MetadataSchema>): AuthorizationServer => ({
  issuer: data.issuer,
  ...Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)),
});
