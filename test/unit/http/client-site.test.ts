/** Requests are counted by what one machine can use: an IPv4 address, or a /64 network. */
import { expect, it } from 'vitest';
import { toSite } from '../../../src/http/client-site.ts';

it.each([
  ['2001:db8:0:1::1', '2001:db8:0:1'],
  ['2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1'],
  ['2001:db8:0:2::1', '2001:db8:0:2'],
  ['2001:db8::a', '2001:db8:0:0'],
  ['2001:db8::b:c:d', '2001:db8:0:0'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
  ['2001:db8::', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['198.51.100.1', '198.51.100.1'],
  ['::ffff:198.51.100.1', '::ffff:198.51.100.1'],
  ['', ''],
])('[ACC-6] [OPS-5] %s counts as %s', (address, site) => {
  expect(toSite(address)).toBe(site);
});
