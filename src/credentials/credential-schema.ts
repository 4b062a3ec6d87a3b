/**
 * How Portico authenticates at a server: what an administrator gives, how it lies in the registry, and what of it is shown
 * again. Headers and `auth` are given and sealed apart, so that one can be changed without the other. Pure.
 */
import { z } from 'zod';
import { namesIn, showReferences } from './references.ts';
import type { SealedSecret } from './secret-schema.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** Headers that belong to the connection or to the protocol, never to a configuration. */
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
  .meta({ description: '`${NAME}` in a value stands for that secret, which may come later' });
export type Headers = z.infer<typeof HeadersSchema>;

const TextSchema = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x20-\x7e]+$/, 'use visible ASCII characters and spaces only');
/** What is said of a token beside the client's secret; none of it is one. */
const GRANT_SHAPE = {
  /** Absent: what the server and its authorization server say of themselves. */
  token_url: z.string().max(2048).optional(),
  scope: z
    .string()
    .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'use words with one space between')
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

/** An issuer is compared as it is written. */
const IssuerSchema = z
  .string()
  .max(2048)
  .refine(text => URL.canParse(text) && !/[?#]/.test(text), 'use a URL without query or fragment');

/** Ways to authenticate beside static headers. Tokens, client ids and client secrets may refer to secrets. */
export const AuthSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), token: TextSchema }),
  z.strictObject({
    type: z.literal('client_credentials'),
    client_id: TextSchema,
    client_secret: TextSchema,
    ...GRANT_SHAPE,
  }),
  /** The client by which people connect accounts of their own; nothing is sent by it but where they sign in. */
  z.strictObject({
    type: z.literal('authorization_code'),
    issuer: IssuerSchema,
    client_id: TextSchema,
    /** Absent: a public client. */
    client_secret: TextSchema.optional(),
    /** Absent: what the server asks for. */
    scope: GRANT_SHAPE.scope,
  }),
]);
export type Auth = z.infer<typeof AuthSchema>;
export type ClientCredentialsAuth = Extract<Auth, { type: 'client_credentials' }>;
export type AuthorizationCodeAuth = Extract<Auth, { type: 'authorization_code' }>;

/** What is shown of `auth`: its kind, references, and what is no secret. */
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

/** What is shown of a credential, and the names of the secrets it refers to. */
const CredentialViewSchema = z.object({
  /** By the name as it was given: a value that is nothing but references, else null. */
  headers: z.record(z.string(), z.string().nullable()),
  auth: AuthViewSchema.nullable(),
  secrets: z.object({ headers: z.array(z.string()), auth: z.array(z.string()) }),
});
export type CredentialView = z.infer<typeof CredentialViewSchema>;

/** An access token that a server's monitor fetched with client credentials, as it is stored. */
export interface AccessToken {
  /** An envelope; null where the server refused the token. */
  sealed: string | null;
  /** Grows with every token of the server. */
  serial: number;
  /** The credential it was fetched with. */
  credentialKey: string;
  /** Origin of the token endpoint: another one is not sent what was given for this. */
  tokenOrigin: string;
  /** Milliseconds since the epoch. */
  issuedAt: number;
  expiresAt: number;
}

/** A credential as the registry holds it. */
export interface Credential {
  headersSealed: string | null;
  authSealed: string | null;
  view: CredentialView;
  /** Counts changes by administrators; neither a key that rotates nor an access token that is renewed counts. */
  revision: number;
  /** The secrets it refers to as they are now, sealed; one that is missing here is missing. */
  secrets: readonly SealedSecret[];
  accessToken: AccessToken | null;
}

const EMPTY_VIEW: CredentialView = { headers: {}, auth: null, secrets: { headers: [], auth: [] } };

/** Nothing is sent. */
export const NO_CREDENTIAL: Credential = {
  headersSealed: null,
  authSealed: null,
  view: EMPTY_VIEW,
  revision: 1,
  secrets: [],
  accessToken: null,
};

/** The column `credential_view`. */
export function parseCredentialView(text: string | null): CredentialView {
  return text === null ? EMPTY_VIEW : CredentialViewSchema.parse(JSON.parse(text));
}

/** A text of a credential, where it stands in the API, and the one origin it is sent to. */
export interface Use {
  field: string;
  text: string;
  /** Undefined where it shows only when it is sent. */
  origin: string | undefined;
}

/** What an administrator gave: absent stays as it is, null clears. */
export interface GivenCredential {
  headers?: Headers | null | undefined;
  auth?: Auth | null | undefined;
}

/** Texts of a given credential that may refer to secrets. */
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

/** The address that the secrets of `auth` are sent to, where that is known before. */
function sentToOf(url: string, auth: Auth): string | undefined {
  if (auth.type === 'bearer') return url;
  return auth.type === 'client_credentials' ? auth.token_url : undefined;
}

/** The view of a credential after a change. */
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

/** The texts of `auth` that are secret or may refer to secrets, with their fields. */
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
