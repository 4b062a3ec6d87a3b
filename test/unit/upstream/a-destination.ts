/** A server on the network, for tests that answer in its place. */

export const endpoint = {
  serverId: 's',
  name: 's',
  url: 'https://s.example.com/mcp',
  headers: {},
  hidden: [],
  credentialKey: 'k',
  fetch: (url: string, init: RequestInit) => fetch(url, init),
};
