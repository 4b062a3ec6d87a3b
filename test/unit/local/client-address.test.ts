/** The client's address of a request: forwarded values count only if a trusted proxy added them. */
import { describe, expect, it } from 'vitest';
import { clientAddress, parseProxies } from '../../../local/client-address.ts';

const proxies = parseProxies('10.0.0.0/8, 127.0.0.1,fd00::/8');

describe('the address of a client', () => {
  it.each([
    ['of a peer nobody named, whatever it says', '203.0.113.1', '198.51.100.1', '203.0.113.1'],
    ['that the proxy says', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['in front of which a client wrote', '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['behind two proxies', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['of a proxy that says nothing', '10.0.0.1', undefined, '10.0.0.1'],
    ['of a proxy that says no address', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['of proxies alone', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['of a peer written as IPv6', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['with a port', '127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['of IPv6 with a port', 'fd00::1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['of no peer', undefined, '198.51.100.1', ''],
  ])('[OPS-5] [SEC-5] %s', (_, peer, forwarded, address) => {
    expect(clientAddress(peer, forwarded, proxies)).toBe(address);
  });

  it('[OPS-5] is the peer if no proxy is named', () => {
    expect(clientAddress('127.0.0.1', '198.51.100.1', parseProxies(''))).toBe('127.0.0.1');
  });
});

it.each(['10.0.0.0/33', '10.0.0.0/0', '::/0', '10.0.0', 'proxy', '10.0.0.0/8/8', '10.0.0.0/a'])(
  '[OPS-5] a proxy may not be %j',
  text => {
    const refused = expect.objectContaining({
      exitCode: 2,
      message: expect.stringMatching(/^.+$/),
    });
    expect(() => parseProxies(text)).toThrow(refused);
  },
);
