/**
 * Checks what authenticators answer (WebAuthn level 3, §7.1 and §7.2), by `@simplewebauthn/server`: challenge, origin, id of this host,
 * presence and verification of the user, counter and signature. Answers are text of others: what is not as expected is undefined, and
 * nothing tells why.
 *
 * Invariant: no certificate of an answer is looked at. No attestation is asked for, and for one the library would fetch what the
 * certificate names.
 */
import { z } from 'zod';
import { fromBase64Url, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { Passkey } from './passkey-schema.ts';

/** It is large, and used by nobody but who has a passkey. */
const loadLibrary = () => import('@simplewebauthn/server');
const loadHelpers = () => import('@simplewebauthn/server/helpers');

/** COSE algorithms: ES256, EdDSA, RS256. */
export const ALGORITHMS = [-7, -8, -257];

/** Most characters of an answer, which a form brings. */
export const MAX_ANSWER_CHARS = 16_000;
/** Most characters of a public key; one of RSA with 4,096 bits has 700. */
const MAX_KEY_CHARS = 1_500;

const bytes = (maxChars: number) =>
  z
    .string()
    .min(1)
    .max(maxChars)
    .regex(/^[A-Za-z0-9_-]+$/);
/** An id has 1,023 bytes at most. */
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

/** What an answer must fit. */
export interface Expected {
  challenge: string;
  /** Of the gateway, as the browser asked for it. */
  url: URL;
}

const toOptions = ({ challenge, url }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: url.origin,
  expectedRPID: url.hostname,
  requireUserVerification: true,
});

/** An answer that signs in, as far as its form goes; undefined where it is none. */
export const parseAssertion = (text: string): Assertion | undefined => parse(AssertionSchema, text);

function parse<T>(schema: z.ZodType<T>, text: string): T | undefined {
  if (text.length > MAX_ANSWER_CHARS) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The user's handle as authenticators keep it. */
export const toUserHandle = (principalId: string): string =>
  toBase64Url(new TextEncoder().encode(principalId));

/** What is kept of a new passkey. */
export type NewCredential = Pick<
  Passkey,
  'credential_id' | 'public_key' | 'counter' | 'transports'
>;

/** @param text what the browser answered, JSON @returns undefined where anything of it does not fit */
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

/** Whether a page of others was around the page that asked: ours are framed by nobody. The library does not ask when one is added. */
function isFramed({ clientDataJSON }: { clientDataJSON: string }): boolean {
  const text = new TextDecoder().decode(fromBase64Url(clientDataJSON));
  const { crossOrigin, topOrigin } = ClientDataSchema.parse(JSON.parse(text));
  return crossOrigin === true || topOrigin !== undefined;
}

/** Browsers send no statement where none is asked for, or one that the key itself signed. */
function isWithoutCertificate(attestation: {
  get(key: 'fmt'): unknown;
  get(key: 'attStmt'): { get(key: 'x5c'): unknown };
}): boolean {
  const format = attestation.get('fmt');
  if (format === 'none') return true;
  return format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
}

/** @returns the authenticator's counter, or undefined where anything does not fit */
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
