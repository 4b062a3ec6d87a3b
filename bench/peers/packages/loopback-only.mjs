/** Loaded before a measured gateway: refuses any fetch beyond loopback. */
const real = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : String(input));
  if (!['127.0.0.1', 'localhost'].includes(hostname)) throw new TypeError('loopback only');
  return real(input, init);
};
