/** The names under which the gateway is reached, the origins whose pages may call it, and the networks its servers may be in. */
import { z } from 'zod';

/**
 * `local`: for one user, on loopback only. `server`: on a machine for a team, behind a proxy that ends TLS.
 * `production`: on Cloudflare.
 */
export type Mode = 'local' | 'server' | 'production';

/** Networks that servers may be in; each includes those before it. */
export type Network = 'public' | 'loopback' | 'private';

export const HOST_SETTINGS = {
  PORTICO_MODE: z.enum(['local', 'server', 'production']).default('production'),
  PORTICO_PUBLIC_URL: z.string().default(''),
  PORTICO_NETWORK: z.enum(['public', 'loopback', 'private']).optional(),
  PORTICO_ALLOWED_ORIGINS: z.string().default(''),
  PORTICO_CLIENT_DOCUMENT_URL: z.string().default(''),
};
const SettingsSchema = z.object(HOST_SETTINGS);

const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * Returns the origin of a public URL: https, or http if it names this machine; with no path, query or credentials.
 * @returns undefined if the text is not such a URL
 */
export function toPublicOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.href !== `${url.origin}/` && url.href !== url.origin)) return undefined;
  return url.protocol === 'https:' || LOOPBACK.test(url.origin) ? url.origin : undefined;
}

/** Whether a text can identify a client (Client ID Metadata Document): https with a path, and no query, fragment or user name. */
function isDocumentUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.href !== text || url.protocol !== 'https:') return false;
  return url.pathname !== '/' && url.search === '' && url.hash === '' && url.username === '';
}

export type HostSettings = ReturnType<typeof toHostSettings>;

/** @throws Error that names the invalid setting */
export function toHostSettings(settings: z.infer<typeof SettingsSchema>) {
  const { PORTICO_MODE: mode, PORTICO_PUBLIC_URL: publicUrl } = settings;
  const publicOrigin = publicUrl === '' ? undefined : toPublicOrigin(publicUrl);
  if (publicUrl !== '' && publicOrigin === undefined) {
    throw new Error('Setting PORTICO_PUBLIC_URL: must be https://HOST without a path');
  }
  if (mode === 'server' && publicOrigin === undefined) {
    throw new Error('Setting PORTICO_PUBLIC_URL: PORTICO_MODE=server needs it');
  }
  if (mode === 'local' && publicOrigin !== undefined) {
    throw new Error('Setting PORTICO_PUBLIC_URL: leave it out with PORTICO_MODE=local');
  }
  const { PORTICO_CLIENT_DOCUMENT_URL: documentUrl } = settings;
  if (documentUrl !== '' && !isDocumentUrl(documentUrl)) {
    throw new Error('Setting PORTICO_CLIENT_DOCUMENT_URL: must be https://HOST/PATH');
  }
  const network = settings.PORTICO_NETWORK ?? (mode === 'local' ? 'private' : 'public');
  if (mode === 'production' && network !== 'public') {
    throw new Error('Setting PORTICO_NETWORK: on Cloudflare only the public network is possible');
  }
  return {
    mode,
    publicOrigin,
    network,
    /** Servers may be on this machine, over plain http too. */
    allowsLoopback: network !== 'public',
    /** URL of our client metadata document for authorization servers, if it is not on the gateway's own origin. */
    clientDocumentUrl: documentUrl === '' ? undefined : documentUrl,
    allowedOrigins: toOrigins(settings.PORTICO_ALLOWED_ORIGINS),
  };
}

/** The origin of a page, as a browser sends it; other schemes than those of the web are those of apps and extensions. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/;

/** @throws Error that names the setting */
function toOrigins(list: string): string[] {
  const origins = list
    .split(',')
    .map(origin => origin.trim())
    .filter(origin => origin !== '');
  for (const origin of origins) {
    const own = URL.parse(origin)?.origin;
    if (!ORIGIN.test(origin) || (own !== 'null' && own !== origin)) {
      throw new Error(
        `Setting PORTICO_ALLOWED_ORIGINS: '${origin}' is not an origin such as https://app.example.com`,
      );
    }
  }
  return origins;
}
