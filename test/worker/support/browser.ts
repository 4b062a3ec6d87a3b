/** A browser, as far as signing in needs one: it keeps the cookie, and says which page a form comes from. */
import { ORIGIN, type Portico } from './portico.ts';

export interface Browser {
  cookie: string;
  get(path: string): Promise<Response>;
  post(path: string, fields: Record<string, string>, headers?: HeadersInit): Promise<Response>;
}

/** @param origin of the gateway, as the browser asks for it */
export function createBrowser(portico: Portico): Browser {
  const keep = (response: Response): Response => {
    const [pair = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    if (pair !== '') browser.cookie = pair.endsWith('=') ? '' : pair;
    return response;
  };
  const browser: Browser = {
    cookie: '',
    get: async path => keep(await portico.fetch(path, { headers: { cookie: browser.cookie } })),
    post: async (path, fields, headers = {}) =>
      keep(
        await portico.fetch(path, {
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            origin: ORIGIN,
            cookie: browser.cookie,
            ...headers,
          },
          body: String(new URLSearchParams(fields)),
        }),
      ),
  };
  return browser;
}
