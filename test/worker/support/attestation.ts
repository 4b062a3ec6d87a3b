/** Valid attestation statements of authenticators: by the new key itself, and by a certificate that is created here (X.509, DER). */
import { cborBytes, cborMap, cborText, type Authenticator } from '../../fixtures/authenticator.ts';

type Bytes = ArrayLike<number>;
/** Makes a statement about the signed data. */
export type Attest = (signed: Uint8Array) => Promise<Uint8Array>;

const concat = (...parts: Bytes[]) => Uint8Array.from(parts.flatMap(part => Array.from(part)));

function der(tag: number, ...parts: Bytes[]): Uint8Array {
  const value = concat(...parts);
  const { length } = value;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return concat([tag], size, value);
}
const text = (value: string) => new TextEncoder().encode(value);
const sequence = (...parts: Bytes[]) => der(0x30, ...parts);
/** An object identifier below 2.5. */
const oid = (...parts: number[]) => der(6, [0x55], parts);
const ECDSA_SHA256 = sequence(der(6, [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]));

/** Algorithm and signature in the form of the statement. ES256. */
const toStatement = (signature: Uint8Array, ...more: [Bytes, Bytes][]) =>
  cborMap([cborText('alg'), [0x26]], [cborText('sig'), cborBytes(signature)], ...more);

/** Self attestation by the new key. */
export const bySelf =
  ({ sign }: Authenticator): Attest =>
  async signed =>
    toStatement(await sign(signed));

/** Attestation by the maker's key, with a certificate that is valid in every respect. @param maker its public key, SPKI */
export function byMaker({ sign }: Authenticator, maker: Uint8Array): Attest {
  return async signed => {
    const part = (type: number, value: string) =>
      der(0x31, sequence(oid(4, type), der(0x0c, text(value))));
    const name = sequence(
      part(6, 'AT'),
      part(10, 'Maker'),
      part(11, 'Authenticator Attestation'),
      part(3, 'Maker'),
    );
    const validity = sequence(der(0x17, text('200101000000Z')), der(0x17, text('491231000000Z')));
    // Basic constraints: it may sign no other certificates.
    const extensions = der(0xa3, sequence(sequence(oid(29, 19), der(4, sequence()))));
    const version = der(0xa0, der(2, [2]));
    const certified = sequence(
      version,
      der(2, [1]),
      ECDSA_SHA256,
      name,
      validity,
      name,
      maker,
      extensions,
    );
    const bits = der(3, [0], await sign(certified));
    const certificate = sequence(certified, ECDSA_SHA256, bits);
    const chain = concat([0x81], cborBytes(certificate));
    return toStatement(await sign(signed), [cborText('x5c'), chain]);
  };
}
