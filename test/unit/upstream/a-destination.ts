/** A server on the network, for tests that answer in its place. */
import { direct } from '../../../src/http/outbound-fetch.ts';

export const endpoint = {
  serverId: 's',
  name: 's',
  url: 'https://s.example.com/mcp',
  headers: {},
  hidden: [],
  credentialKey: 'k',
  fetch: direct,
};
