/** The way to Cloudflare through the proxy that the environment names. */
import { setGlobalProxyFromEnv } from 'node:http';
import { StartError } from '../local/start-error.ts';

/** Reached without a proxy if the environment names no exceptions, as wrangler does it. */
const LOOPBACK = 'localhost,127.0.0.1,::1';

/**
 * Sends the requests of this process through the proxy of an environment.
 * @returns a function that undoes it
 * @throws StartError where the proxy's address is invalid; it does not tell the address, which may contain a password
 */
export function useProxy(env: NodeJS.ProcessEnv): () => void {
  const noProxy = env['no_proxy'] || env['NO_PROXY'] || LOOPBACK;
  try {
    return setGlobalProxyFromEnv({ ...env, no_proxy: noProxy });
  } catch {
    throw new StartError(
      'HTTPS_PROXY or HTTP_PROXY is no address like http://proxy.example:3128',
      2,
    );
  }
}
