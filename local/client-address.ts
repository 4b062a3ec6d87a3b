/**
 * Finds the client address of a request: the address of the peer, or, if the peer is a trusted proxy, the one it reports. `X-Forwarded-For`
 * is read from its end for as long as its entries were written by trusted proxies, so an entry of the client itself is never believed.
 * Pure.
 */
import { BlockList, isIP } from 'node:net';
import { StartError } from './start-error.ts';

export type Proxies = Pick<BlockList, 'check'>;

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Parses a list of trusted proxies: addresses and networks (`10.0.0.0/8`), separated by commas.
 * @throws StartError with exit code 2
 */
export function parseProxies(text: string): Proxies {
  const proxies = new BlockList();
  for (const entry of text.split(',').map(part => part.trim())) {
    if (entry === '') continue;
    const [address = '', prefix, ...more] = entry.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (isIP(address) === 0 || more.length > 0 || bits < 1 || bits > most) {
      throw new StartError(
        `--trusted-proxies takes addresses and networks separated by commas, for instance 10.0.0.0/8,127.0.0.1; not ${JSON.stringify(entry)}.`,
        2,
      );
    }
    proxies.addSubnet(address, bits, familyOf(address));
  }
  return proxies;
}

/** @param forwarded all values of `X-Forwarded-For`, in the order received, joined by commas */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | undefined,
  proxies: Proxies,
): string {
  let address = toPlain(peer ?? '');
  const entries = (forwarded ?? '').split(',');
  while (isIP(address) !== 0 && proxies.check(address, familyOf(address))) {
    const next = toPlain(entries.pop()?.trim() ?? '');
    if (isIP(next) === 0) break;
    address = next;
  }
  return address;
}

/** Removes brackets and port, and unwraps an IPv4-mapped address. */
function toPlain(text: string): string {
  const bare =
    /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare;
}
