/** A person at a browser who connects an account at a server by signing in at its authorization server, through that server's own pages. */
import { createCookieBrowser, type CookieBrowser, type Page } from './cookie-browser.ts';

export const toText = (page: string): string => page.replaceAll(/\s+/g, ' ');

/** Returns where a page redirects. */
function wayOn(page: string): URL | undefined {
  const address = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page)?.[1];
  return address === undefined ? undefined : new URL(address.replaceAll('&amp;', '&'));
}

export class ConnectingPerson {
  readonly browser: CookieBrowser = createCookieBrowser();
  readonly #origin: string;
  readonly #token: string;

  constructor(origin: string, token: string) {
    this.#origin = origin;
    this.#token = token;
  }

  async signIn(): Promise<void> {
    await this.browser.open(`${this.#origin}/sign-in`);
    await this.browser.open(`${this.#origin}/sign-in`, { code: this.#token });
  }

  /** Starts at the page of a server. @returns where it sends the browser */
  async leave(server: string): Promise<URL> {
    const { text } = await this.#ask(server);
    const location = wayOn(text);
    if (!location) throw new Error(`It leads nowhere: ${toText(text)}`);
    return location;
  }

  /** Opens the page of a server and presses its button. @returns the next page */
  async #ask(server: string): Promise<Page> {
    const path = `${this.#origin}/connect/${server}`;
    await this.browser.open(path);
    return this.browser.open(path, { how: 'sign-in' });
  }

  /** Connects at an authorization server that asks nothing. @returns the last page: the gateway's, also if it refuses to redirect */
  async connectAtOnce(server: string): Promise<Page> {
    const page = await this.#ask(server);
    const location = wayOn(page.text);
    return location ? this.browser.open(location.href) : page;
  }

  /** Signs in there and agrees. @returns the redirect back, which is not opened yet */
  async agree(location: URL, login: string): Promise<string> {
    let page = await this.browser.open(location.href);
    const forms: Record<string, string>[] = [
      { prompt: 'login', login, password: 'x' },
      { prompt: 'consent' },
    ];
    for (const form of forms) {
      const action = /action="([^"]+)"/.exec(page.text)?.[1];
      if (action === undefined) break;
      const next = new URL(action, page.url).href;
      if (form['prompt'] === 'consent') return this.#follow(next, form);
      page = await this.browser.open(next, form);
    }
    throw new Error(`Nothing to agree to: ${toText(page.text)}`);
  }

  /** Follows redirects up to the gateway's own page. */
  async #follow(address: string, form: Record<string, string>): Promise<string> {
    let at = await this.browser.peek(address, form);
    for (let hops = 0; hops < 5 && !at.startsWith(`${this.#origin}/oauth/callback`); hops += 1) {
      at = await this.browser.peek(at);
    }
    return at;
  }

  /** Signs in everywhere and connects. @returns the text of the gateway's page */
  async connect(server: string, login: string): Promise<string> {
    await this.signIn();
    const back = await this.agree(await this.leave(server), login);
    return toText((await this.browser.open(back)).text);
  }
}
