/** A browser, as far as sign-in needs one: it keeps cookies, and sends the origin of a form's page. */
import { ORIGIN, type Portico } from './portico.ts';

export interface Browser {
  /** The cookies that it keeps, as it sends them. */
  cookie: string;
  get(path: string): Promise<Response>;
  post(path: string, fields: Record<string, string>, headers?: HeadersInit): Promise<Response>;
}

/** @param origin of the gateway in the browser's URL */
export function createBrowser(portico: Portico, origin: string = ORIGIN): Browser {
  const keep = (response: Response): Response => {
    const kept = new Map(browser.cookie.split('; ').map(pair => [nameOf(pair), pair]));
    kept.delete('');
    for (const header of response.headers.getSetCookie()) {
      const [pair = ''] = header.split(';');
      if (pair.endsWith('=')) kept.delete(nameOf(pair));
      else kept.set(nameOf(pair), pair);
    }
    browser.cookie = [...kept.values()].join('; ');
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
            origin,
            cookie: browser.cookie,
            ...headers,
          },
          body: String(new URLSearchParams(fields)),
        }),
      ),
  };
  return browser;
}

const nameOf = (pair: string): string => pair.slice(0, Math.max(pair.indexOf('='), 0));
