/**
 * An authenticator made of WebCrypto: it makes keys, and answers as browsers do (WebAuthn level 3, §5.1, §6), also wrongly, one thing at a
 * time. CBOR is written by hand, so that nothing of it is the library's that is tested.
 */
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';

/** COSE algorithms. */
export type Alg = -7 | -8 | -257;

/** What is wrong; nothing where it is empty. */
export interface Wrong {
  type?: string;
  challenge?: string;
  origin?: string;
  topOrigin?: string;
  crossOrigin?: boolean;
  rpId?: string;
  /** Of the authenticator data: 1 a user is there, 4 it was verified, 16 the key is kept elsewhere too. */
  flags?: number;
  counter?: number;
  userHandle?: string;
  id?: string;
  rawId?: string;
  credentialType?: string;
  /** Another key signs. */
  signer?: Authenticator;
  /** More bytes behind the authenticator data. */
  trailing?: number[];
  /** The attestation: its format and its statement. */
  format?: string;
  statement?: Uint8Array;
  /** Makes the statement of what the authenticator signs. */
  attest?: (signed: Uint8Array) => Promise<Uint8Array>;
  /** In the place of the whole attestation object. */
  attestation?: Uint8Array;
}

type Asked = Record<string, unknown> & { challenge: string };

const utf8 = (text: string) => new TextEncoder().encode(text);
const joined = (...parts: ArrayLike<number>[]) =>
  Uint8Array.from(parts.flatMap(part => Array.from(part)));
const sha256 = async (bytes: Uint8Array) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

function head(major: number, value: number): number[] {
  if (value < 24) return [(major << 5) | value];
  if (value < 256) return [(major << 5) | 24, value];
  return [(major << 5) | 25, value >> 8, value & 255];
}
const cborInt = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value));
/** A CBOR byte string. */
export const cborBytes = (bytes: Uint8Array) => joined(head(2, bytes.length), bytes);
/** A CBOR text. */
export const cborText = (text: string) => joined(head(3, utf8(text).length), utf8(text));
/** A CBOR map of keys and values that are CBOR already. */
export const cborMap = (...entries: [key: ArrayLike<number>, value: ArrayLike<number>][]) =>
  joined(head(5, entries.length), ...entries.flat());

const GENERATED = {
  [-7]: { name: 'ECDSA', namedCurve: 'P-256' },
  [-8]: { name: 'Ed25519' },
  [-257]: {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
    hash: 'SHA-256',
  },
} as const;

const fromBase64Url = (text = '') =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), char => char.charCodeAt(0));

async function toCose(alg: Alg, publicKey: CryptoKey): Promise<Uint8Array> {
  const jwk = (await crypto.subtle.exportKey('jwk', publicKey)) as unknown as Record<
    string,
    string
  >;
  const member = (key: number, name: string): [number[], Uint8Array] => [
    cborInt(key),
    cborBytes(fromBase64Url(jwk[name])),
  ];
  const start = (kty: number): [number[], number[]][] => [
    [cborInt(1), cborInt(kty)],
    [cborInt(3), cborInt(alg)],
  ];
  if (alg === -257) return cborMap(...start(3), member(-1, 'n'), member(-2, 'e'));
  const curve: [number[], number[]] = [cborInt(-1), cborInt(alg === -8 ? 6 : 1)];
  const more = alg === -8 ? [] : [member(-3, 'y')];
  return cborMap(...start(alg === -8 ? 1 : 2), curve, member(-2, 'x'), ...more);
}

/** An ECDSA signature as authenticators write it (ASN.1 DER). */
function toDer(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
    const short = bytes.subarray(start);
    const value = (short[0] ?? 0) > 127 ? joined([0], short) : short;
    return joined([2, value.length], value);
  };
  const both = joined(integer(raw.subarray(0, 32)), integer(raw.subarray(32)));
  return joined([0x30, both.length], both);
}

export interface Authenticator {
  id: string;
  /** Its public key, SPKI. */
  publicKey: Uint8Array;
  sign(data: Uint8Array): Promise<Uint8Array>;
  /** Its answer to what the gateway asks for a new passkey. */
  add(asked: Asked, origin: string, wrong?: Wrong): Promise<string>;
  /** Its answer to what the gateway asks of one who signs in. */
  signIn(asked: Asked, origin: string, wrong?: Wrong): Promise<string>;
}

/** @param counts whether it counts its signatures */
export async function createAuthenticator(alg: Alg = -7, counts = false): Promise<Authenticator> {
  const keys = (await crypto.subtle.generateKey(GENERATED[alg], true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const rawId = crypto.getRandomValues(new Uint8Array(32));
  const cose = await toCose(alg, keys.publicKey);
  const id = toBase64Url(rawId);
  let counter = 0;
  let userHandle = '';

  const dataOf = async (
    rpId: string,
    flags: number,
    wrong: Wrong,
    more: ArrayLike<number> = [],
  ) => {
    counter += counts ? 1 : 0;
    const count = new Uint8Array(4);
    new DataView(count.buffer).setUint32(0, wrong.counter ?? counter);
    const hash = await sha256(utf8(wrong.rpId ?? rpId));
    return joined(hash, [wrong.flags ?? flags], count, more, wrong.trailing ?? []);
  };
  const clientDataOf = (type: string, { challenge }: Asked, origin: string, wrong: Wrong) =>
    utf8(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: wrong.crossOrigin ?? wrong.topOrigin !== undefined,
        ...(wrong.topOrigin === undefined ? {} : { topOrigin: wrong.topOrigin }),
      }),
    );
  const toAnswer = (response: object, wrong: Wrong) =>
    JSON.stringify({
      id: wrong.id ?? id,
      rawId: wrong.rawId ?? wrong.id ?? id,
      type: wrong.credentialType ?? 'public-key',
      response,
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
    });

  async function sign(data: Uint8Array): Promise<Uint8Array> {
    const { name } = GENERATED[alg];
    const signed = await crypto.subtle.sign({ name, hash: 'SHA-256' }, keys.privateKey, data);
    return alg === -7 ? toDer(new Uint8Array(signed)) : new Uint8Array(signed);
  }

  return {
    id,
    publicKey: new Uint8Array(
      (await crypto.subtle.exportKey('spki', keys.publicKey)) as ArrayBuffer,
    ),

    sign,

    async add(asked, origin, wrong = {}) {
      const { rp, user } = asked as unknown as { rp: { id: string }; user: { id: string } };
      userHandle = user.id;
      const attested = joined(new Uint8Array(16), [0, rawId.length], rawId, cose);
      // The user is there and verified; data of a key is attested.
      const flags = (wrong.flags ?? 5) | 64;
      const data = await dataOf(rp.id, flags, { ...wrong, flags }, attested);
      const client = clientDataOf('webauthn.create', asked, origin, wrong);
      const signed = joined(data, await sha256(client));
      const statement = (await wrong.attest?.(signed)) ?? wrong.statement ?? cborMap();
      const object = cborMap(
        [cborText('fmt'), cborText(wrong.format ?? 'none')],
        [cborText('attStmt'), statement],
        [cborText('authData'), cborBytes(data)],
      );
      const response = {
        clientDataJSON: toBase64Url(client),
        attestationObject: toBase64Url(wrong.attestation ?? object),
        transports: ['internal'],
      };
      return toAnswer(response, wrong);
    },

    async signIn(asked, origin, wrong = {}) {
      const data = await dataOf(String(asked['rpId']), 5, wrong);
      const client = clientDataOf('webauthn.get', asked, origin, wrong);
      const signed = joined(data, await sha256(client));
      const response = {
        clientDataJSON: toBase64Url(client),
        authenticatorData: toBase64Url(data),
        signature: toBase64Url(await (wrong.signer?.sign ?? sign)(signed)),
        userHandle: wrong.userHandle ?? userHandle,
      };
      return toAnswer(response, wrong);
    },
  };
}
