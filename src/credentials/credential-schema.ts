/**
 * How Portico authenticates at a server: what an administrator gives, how the registry stores it, and which parts are shown again. Headers
 * and `auth` are given and sealed separately, so that one can be changed without the other. Pure.
 */
import { z } from 'zod';
import { namesIn, showReferences } from './references.ts';
import type { SealedSecret } from './secret-schema.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** Headers of the connection or the protocol; no configuration may set them. */
const RESERVED_HEADERS = new Set([
  'host',
  'content-length',
  'content-type',
  'accept',
  'connection',
  'transfer-encoding',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
]);

export const HeadersSchema = z
  .record(z.string().regex(HEADER_NAME, 'is not a header name').max(128), z.string().max(8192))
  .refine(headers => Object.keys(headers).length <= 32, 'at most 32 headers')
  .refine(
    headers => Object.keys(headers).every(name => !RESERVED_HEADERS.has(name.toLowerCase())),
    'a header of the protocol cannot be set',
  )
  .refine(
    headers => Object.values(headers).every(value => HEADER_VALUE.test(value)),
    'a header value may hold visible ASCII characters only',
  )
  .meta({ description: '`${NAME}` in a value stands for that secret, which may be created later' });
export type Headers = z.infer<typeof HeadersSchema>;

const TextSchema = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x20-\x7e]+$/, 'use visible ASCII characters and spaces only');
/** Parameters of a token request besides the client's secret; none of them is secret. */
const GRANT_SHAPE = {
  /** Absent: discovered from the server and its authorization server. */
  token_url: z.string().max(2048).optional(),
  scope: z
    .string()
    .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'use words with one space between them')
    .max(2000)
    .optional(),
  /** Absent: the server's address. */
  resource: z
    .string()
    .max(2048)
    .refine(text => URL.canParse(text) && !text.includes('#'), 'use a URL without a fragment')
    .optional(),
  audience: z.string().min(1).max(2048).optional(),
};

/** Issuers are compared as they are written. */
const IssuerSchema = z
  .string()
  .max(2048)
  .refine(text => URL.canParse(text) && !/[?#]/.test(text), 'use a URL without query or fragment');

/** Authentication other than static headers. Tokens, client ids and client secrets may refer to secrets. */
export const AuthSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), token: TextSchema }),
  z.strictObject({
    type: z.literal('client_credentials'),
    client_id: TextSchema,
    client_secret: TextSchema,
    ...GRANT_SHAPE,
  }),
  /** The client with which people connect their own accounts; it is sent only to the authorization server where they sign in. */
  z.strictObject({
    type: z.literal('authorization_code'),
    issuer: IssuerSchema,
    client_id: TextSchema,
    /** Absent: a public client. */
    client_secret: TextSchema.optional(),
    /** Absent: the scope that the server requests. */
    scope: GRANT_SHAPE.scope,
  }),
]);
export type Auth = z.infer<typeof AuthSchema>;
export type ClientCredentialsAuth = Extract<Auth, { type: 'client_credentials' }>;
export type AuthorizationCodeAuth = Extract<Auth, { type: 'authorization_code' }>;

/** The shown parts of `auth`: its type, references, and parts that are not secret. */
export const AuthViewSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('bearer'), token: z.string().nullable() }),
  z.object({
    type: z.literal('client_credentials'),
    client_id: z.string().nullable(),
    client_secret: z.string().nullable(),
    ...GRANT_SHAPE,
  }),
  z.object({
    type: z.literal('authorization_code'),
    issuer: z.string(),
    client_id: z.string().nullable(),
    /** Absent: none was given. */
    client_secret: z.string().nullable().optional(),
    scope: GRANT_SHAPE.scope,
  }),
]);

/** The shown parts of a credential, and the names of the secrets it refers to. */
const CredentialViewSchema = z.object({
  /** By the header's name as given: the value if it consists of references only, else null. */
  headers: z.record(z.string(), z.string().nullable()),
  auth: AuthViewSchema.nullable(),
  secrets: z.object({ headers: z.array(z.string()), auth: z.array(z.string()) }),
});
export type CredentialView = z.infer<typeof CredentialViewSchema>;

/** An access token that a server's monitor fetched with client credentials, as stored. */
export interface AccessToken {
  /** An envelope; null if the server refused the token. */
  sealed: string | null;
  /** Grows with every token of the server. */
  serial: number;
  /** Key of the credential it was fetched with. */
  credentialKey: string;
  /** Origin of the token endpoint; the client's secret is not sent to another one. */
  tokenOrigin: string;
  /** Milliseconds since the epoch. */
  issuedAt: number;
  expiresAt: number;
}

/** A credential in the registry. */
export interface Credential {
  headersSealed: string | null;
  authSealed: string | null;
  view: CredentialView;
  /** Counts changes by administrators; key rotation and renewal of the access token do not count. */
  revision: number;
  /** Current sealed values of the secrets it refers to; a secret that is not in the list does not exist. */
  secrets: readonly SealedSecret[];
  accessToken: AccessToken | null;
}

const EMPTY_VIEW: CredentialView = { headers: {}, auth: null, secrets: { headers: [], auth: [] } };

/** The empty credential: nothing is sent. */
export const NO_CREDENTIAL: Credential = {
  headersSealed: null,
  authSealed: null,
  view: EMPTY_VIEW,
  revision: 1,
  secrets: [],
  accessToken: null,
};

/** Parses the column `credential_view`. */
export function parseCredentialView(text: string | null): CredentialView {
  return text === null ? EMPTY_VIEW : CredentialViewSchema.parse(JSON.parse(text));
}

/** A text of a credential, its field in the API, and the only origin to which it is sent. */
export interface Use {
  field: string;
  text: string;
  /** Undefined if it is known only at the time of sending. */
  origin: string | undefined;
}

/** A credential as an administrator gave it: an absent part stays as it is, null clears it. */
export interface GivenCredential {
  headers?: Headers | null | undefined;
  auth?: Auth | null | undefined;
}

/** Lists the texts of a given credential that may refer to secrets. */
export function usesOf(url: string, { headers, auth }: GivenCredential): Use[] {
  const { origin } = new URL(url);
  const path = 'connection_config';
  const inHeaders = Object.entries(headers ?? {}).map(([name, text]) => ({
    field: `${path}.headers.${name}`,
    text,
    origin,
  }));
  if (!auth) return inHeaders;
  const sentTo = sentToOf(url, auth);
  const inAuth = secretTexts(auth).map(([name, text]) => ({
    field: `${path}.auth.${name}`,
    text,
    origin: sentTo === undefined ? undefined : new URL(sentTo).origin,
  }));
  return [...inHeaders, ...inAuth];
}

/** The address to which the secrets of `auth` are sent, if it is known in advance. @param url of the server */
export function sentToOf(url: string, auth: Auth | AuthView): string | undefined {
  if (auth.type === 'bearer') return url;
  return auth.type === 'client_credentials' ? auth.token_url : undefined;
}

/** Returns the view of a credential after a change. */
export function viewOf(before: CredentialView, { headers, auth }: GivenCredential): CredentialView {
  return {
    headers: headers === undefined ? before.headers : viewHeaders(headers ?? {}),
    auth: auth === undefined ? before.auth : auth && viewAuth(auth),
    secrets: {
      headers:
        headers === undefined ? before.secrets.headers : namesOf(Object.values(headers ?? {})),
      auth:
        auth === undefined
          ? before.secrets.auth
          : namesOf(auth ? secretTexts(auth).map(([, text]) => text) : []),
    },
  };
}

const viewHeaders = (headers: Headers) =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, showReferences(text)]));

type AuthView = z.infer<typeof AuthViewSchema>;

function viewAuth(auth: Auth): AuthView {
  if (auth.type === 'bearer') return { ...auth, token: showReferences(auth.token) };
  const { client_id: id, client_secret: secret } = auth;
  const shown = secret === undefined ? {} : { client_secret: showReferences(secret) };
  return { ...auth, client_id: showReferences(id), ...shown } as AuthView;
}

/** Lists the texts of `auth` that are secret or may refer to secrets, with their fields. */
function secretTexts(auth: Auth): (readonly [field: string, text: string])[] {
  if (auth.type === 'bearer') return [['token', auth.token]];
  return [
    ['client_id', auth.client_id],
    ...(auth.client_secret === undefined ? [] : [['client_secret', auth.client_secret] as const]),
  ];
}

const namesOf = (texts: readonly string[]) => [
  ...new Set(texts.flatMap(text => namesIn(text) ?? [])),
];
