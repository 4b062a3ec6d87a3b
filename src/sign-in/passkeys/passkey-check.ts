/**
 * Checks the responses of authenticators (WebAuthn level 3, §7.1 and §7.2) with `@simplewebauthn/server`: challenge, origin, relying party
 * id of this host, presence and verification of the user, counter and signature. Responses are untrusted: any fault gives undefined, and no
 * reason is revealed.
 *
 * Invariant: no certificate in a response is read. No attestation is requested, and for one the library would fetch what the certificate
 * names.
 */
import { z } from 'zod';
import { fromBase64Url, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { Passkey } from './passkey-schema.ts';
import { tryJson } from '../../shared/json/json-spans.ts';

/** Loaded on demand: the library is large, and only people with a passkey need it. */
const loadLibrary = () => import('@simplewebauthn/server');
const loadHelpers = () => import('@simplewebauthn/server/helpers');

/** COSE algorithms: ES256, EdDSA, RS256. */
export const ALGORITHMS = [-7, -8, -257];

/** Maximum length of a response, which comes in a form, in characters. */
export const MAX_ANSWER_CHARS = 16_000;
/** Maximum length of a public key, in characters; an RSA key of 4,096 bits has 700. */
const MAX_KEY_CHARS = 1_500;

const bytes = (maxChars: number) =>
  z
    .string()
    .min(1)
    .max(maxChars)
    .regex(/^[A-Za-z0-9_-]+$/);
/** An id has at most 1,023 bytes. */
const id = bytes(1_364);
const common = { id, rawId: id, type: z.literal('public-key') };

const AdditionSchema = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes(4_000),
    attestationObject: bytes(8_000),
    transports: z.array(z.string().max(30)).max(10).default([]),
  }),
});
const AssertionSchema = z.object({
  ...common,
  response: z.object({
    clientDataJSON: bytes(4_000),
    authenticatorData: bytes(4_000),
    signature: bytes(2_000),
    userHandle: bytes(100),
  }),
});
export type Assertion = z.infer<typeof AssertionSchema>;

const ClientDataSchema = z.looseObject({
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

/** What a response must match. */
export interface Expected {
  challenge: string;
  /** URL of the gateway, as the browser requested it. */
  url: URL;
}

const toOptions = ({ challenge, url }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: url.origin,
  expectedRPID: url.hostname,
  requireUserVerification: true,
});

/** Parses a sign-in response; undefined if its form is invalid. */
export const parseAssertion = (text: string): Assertion | undefined => parse(AssertionSchema, text);

function parse<T>(schema: z.ZodType<T>, text: string): T | undefined {
  if (text.length > MAX_ANSWER_CHARS) return undefined;
  return schema.safeParse(tryJson(text)).data;
}

/** Returns the user handle that authenticators store. */
export const toUserHandle = (principalId: string): string =>
  toBase64Url(new TextEncoder().encode(principalId));

/** The stored part of a new passkey. */
export type NewCredential = Pick<
  Passkey,
  'credential_id' | 'public_key' | 'counter' | 'transports'
>;

/** @param text the browser's response, JSON @returns undefined if anything in it is invalid */
export async function checkAddition(
  text: string,
  expected: Expected,
): Promise<NewCredential | undefined> {
  const answer = parse(AdditionSchema, text);
  if (!answer) return undefined;
  try {
    const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
      loadLibrary(),
      loadHelpers(),
    ]);
    const attested = fromBase64Url(answer.response.attestationObject);
    if (isFramed(answer.response)) return undefined;
    if (!attested || !isWithoutCertificate(decodeAttestationObject(new Uint8Array(attested)))) {
      return undefined;
    }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...answer, clientExtensionResults: {}, response: answer.response as never },
      supportedAlgorithmIDs: ALGORITHMS,
      ...toOptions(expected),
    });
    if (!verified) return undefined;
    const { credential } = registrationInfo;
    const publicKey = toBase64Url(credential.publicKey);
    if (credential.id !== answer.id || publicKey.length > MAX_KEY_CHARS) return undefined;
    return {
      credential_id: credential.id,
      public_key: publicKey,
      counter: credential.counter,
      transports: answer.response.transports,
    };
  } catch {
    return undefined;
  }
}

/**
 * Whether the page was framed by a page of another origin, which our own pages never are. The library does not check this when a passkey is
 * added.
 */
function isFramed({ clientDataJSON }: { clientDataJSON: string }): boolean {
  const text = new TextDecoder().decode(fromBase64Url(clientDataJSON));
  const { crossOrigin, topOrigin } = ClientDataSchema.parse(JSON.parse(text));
  return crossOrigin === true || topOrigin !== undefined;
}

/** Whether the attestation has no certificate. If none is requested, browsers send no statement, or one that the key itself signed. */
function isWithoutCertificate(attestation: {
  get(key: 'fmt'): unknown;
  get(key: 'attStmt'): { get(key: 'x5c'): unknown };
}): boolean {
  const format = attestation.get('fmt');
  if (format === 'none') return true;
  return format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
}

/** @returns the authenticator's counter, or undefined if anything is invalid */
export async function checkAssertion(
  answer: Assertion,
  passkey: Passkey,
  expected: Expected,
): Promise<number | undefined> {
  const publicKey = fromBase64Url(passkey.public_key);
  if (!publicKey || answer.response.userHandle !== toUserHandle(passkey.principal_id)) {
    return undefined;
  }
  try {
    if (isFramed(answer.response)) return undefined;
    const { verifyAuthenticationResponse } = await loadLibrary();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, clientExtensionResults: {} },
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(publicKey),
        counter: passkey.counter,
      },
      ...toOptions(expected),
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
