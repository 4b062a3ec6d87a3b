/** The part of a client's address by which its requests are counted. Pure; also runs in Node. */

/** Groups of an IPv6 address, and of a /64 network, all of which one machine can use. */
const GROUPS = 8;
const OF_NETWORK = 4;

/** Returns the /64 network of an IPv6 address; any other text as it is. */
export function toSite(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = [], tail] = address.split('::').map(part => part.split(':').filter(Boolean));
  const missing = tail ? Math.max(0, GROUPS - head.length - tail.length) : 0;
  return [...head, ...Array<string>(missing).fill('0'), ...(tail ?? [])]
    .slice(0, OF_NETWORK)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':');
}
