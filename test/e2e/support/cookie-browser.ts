/** A headless browser without scripts: it keeps cookies by host, follows redirects and links, and submits the forms of pages. */

export interface Page {
  url: string;
  status: number;
  text: string;
}

export interface CookieBrowser {
  /** Cookies by host and name. */
  cookies: Map<string, Map<string, string>>;
  /** Opens an address and follows redirects. @param stop prefix of addresses that are not opened: following ends there */
  open(url: string, form?: Record<string, string>, stop?: string): Promise<Page>;
  /** Returns where a page redirects, without following it. */
  peek(url: string, form?: Record<string, string>): Promise<string>;
}

const MAX_HOPS = 12;

export function createCookieBrowser(): CookieBrowser {
  const cookies: CookieBrowser['cookies'] = new Map();
  let at = '';

  async function ask(url: string, form?: Record<string, string>): Promise<Response> {
    const { hostname, origin } = new URL(url);
    const own = cookies.get(hostname) ?? new Map<string, string>();
    cookies.set(hostname, own);
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie, accept: 'text/html', ...(form ? { origin: at || origin } : {}) },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const equals = pair.indexOf('=');
      const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
      const isGone = value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line);
      if (isGone) own.delete(name);
      else own.set(name, value);
    }
    return response;
  }

  return {
    cookies,
    async open(first, form, stop) {
      let url = first;
      let response = await ask(url, form);
      for (let hops = 0; hops < MAX_HOPS; hops += 1) {
        const location = response.headers.get('location');
        if (location === null) break;
        url = new URL(location, url).href;
        if (stop !== undefined && url.startsWith(stop)) {
          return { url, status: response.status, text: '' };
        }
        response = await ask(url);
      }
      at = new URL(url).origin;
      return { url, status: response.status, text: await response.text() };
    },
    async peek(url, form) {
      const response = await ask(url, form);
      return new URL(response.headers.get('location') ?? '', url).href;
    },
  };
}
