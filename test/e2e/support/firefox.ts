/** Debian's headless Firefox, driven by WebDriver BiDi: one page, which connects to nothing outside this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The path in Debian's package. */
const EXECUTABLE = '/usr/bin/firefox-esr';
/** Timeouts against endless waits, long enough for a busy machine. */
const START_MS = 60_000;
const ANSWER_MS = 60_000;
const LISTENS = /WebDriver BiDi listening on (ws:\/\/\S+)/;
/** Settings that would make it contact its maker. */
const PREFERENCES = [
  'app.normandy.enabled',
  'app.update.enabled',
  'browser.safebrowsing.malware.enabled',
  'browser.safebrowsing.phishing.enabled',
  'datareporting.policy.dataSubmissionEnabled',
  'extensions.getAddons.cache.enabled',
  'network.captive-portal-service.enabled',
  'network.connectivity-service.enabled',
]
  .map(name => `user_pref(${JSON.stringify(name)}, false);\n`)
  .join('');

type Theme = 'light' | 'dark';

/** Sets the theme that pages see as preferred. */
const themeOf = (theme: Theme) =>
  `user_pref("layout.css.prefers-color-scheme.content-override", ${theme === 'dark' ? 0 : 1});\n`;

export interface FirefoxPage {
  /** Errors of its console so far, and uncaught errors. */
  problems: string[];
  /** Loads a page completely. */
  goto(url: string): Promise<void>;
  resize(width: number): Promise<void>;
  /** Evaluates an expression in the page. @returns its value, passed as JSON */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until an expression of the page is true. */
  until(holds: string): Promise<void>;
  /** Clicks with a mouse. */
  click(selector: string): Promise<void>;
  /** Clicks at a place in the window. */
  clickAt(x: number, y: number): Promise<void>;
  /** Presses a key while another is held. */
  chord(held: string, value: string): Promise<void>;
  /** Types into the focused element key by key; `\uE007` is Enter. */
  type(text: string): Promise<void>;
  close(): Promise<void>;
}

interface Answer {
  id?: number;
  method?: string;
  params?: { level: string; text: string };
  error?: string;
  message?: string;
  result?: unknown;
}

/** Connects to the browser: responses match commands by number; errors of the page's console arrive as events. */
async function connect(address: string, problems: string[]) {
  const socket = new WebSocket(`${address}/session`);
  await once(socket, 'open', { signal: AbortSignal.timeout(START_MS) });
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.params?.level === 'error') problems.push(answer.params.text);
    waiting.get(answer.id ?? 0)?.(answer);
  });
  let last = 0;
  const send = async <T>(method: string, params: object): Promise<T> => {
    last += 1;
    const id = last;
    socket.send(JSON.stringify({ id, method, params }));
    const answer = await new Promise<Answer>((resolve, reject) => {
      const late = () => reject(new Error(`Firefox does not answer ${method}`));
      const timer = setTimeout(late, ANSWER_MS);
      waiting.set(id, found => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(found);
      });
    });
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.message}`);
    return answer.result as T;
  };
  return { send, close: () => socket.close() };
}

/** Starts it with its own profile; the caller closes it. */
export async function startFirefox(theme: Theme = 'light'): Promise<FirefoxPage> {
  const profile = await mkdtemp(join(tmpdir(), 'portico-firefox-'));
  await writeFile(join(profile, 'user.js'), PREFERENCES + themeOf(theme));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const child = spawn(EXECUTABLE, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const end = async () => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (isRunning && child.pid !== undefined) {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = '';
      const fail = () => reject(new Error(`Firefox does not start: ${said}`));
      const timer = setTimeout(fail, START_MS);
      child.once('error', reject).once('exit', fail);
      child.stderr.on('data', chunk => {
        said += String(chunk);
        const found = LISTENS.exec(said)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      });
    });
    return await onePage(address, end);
  } catch (error) {
    await end();
    throw error;
  }
}

async function onePage(address: string, end: () => Promise<void>): Promise<FirefoxPage> {
  const problems: string[] = [];
  const { send, close } = await connect(address, problems);
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  // A new tab has the focus; the initial one never has, because there is no window.
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' });
  const evaluate = async <T>(expression: string): Promise<T> => {
    const found = await send<{
      result?: { value?: string };
      exceptionDetails?: { text: string };
    }>('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      target: { context },
      awaitPromise: true,
    });
    if (found.exceptionDetails) throw new Error(found.exceptionDetails.text);
    return JSON.parse(found.result?.value ?? 'null') as T;
  };
  const perform = async (source: object) =>
    void (await send('input.performActions', { context, actions: [source] }));
  const press = (actions: object[]) => perform({ type: 'key', id: 'keys', actions });
  const chord = (held: string, value: string) =>
    press([
      { type: 'keyDown', value: held },
      { type: 'keyDown', value },
      { type: 'keyUp', value },
      { type: 'keyUp', value: held },
    ]);
  const clickAt = (x: number, y: number) => {
    const actions = [
      { type: 'pointerMove', x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    return perform({ type: 'pointer', id: 'mouse', actions });
  };
  return {
    problems,
    evaluate,
    goto: async url =>
      void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    resize: async width =>
      void (await send('browsingContext.setViewport', {
        context,
        viewport: { width, height: 900 },
      })),
    until: async holds => {
      const come = await evaluate<boolean>(`new Promise(resolve => {
        const late = Date.now() + ${ANSWER_MS / 2};
        const look = () => (${holds}) ? resolve(true)
          : Date.now() > late ? resolve(false) : setTimeout(look, 20);
        look();
      })`);
      if (come) return;
      const shown = await evaluate<string>('document.body.innerText');
      throw new Error(`It never held: ${holds}, with ${shown}`);
    },
    clickAt,
    click: async selector => {
      const [x = 0, y = 0] = await evaluate<number[]>(`(() => {
        const found = document.querySelector(${JSON.stringify(selector)});
        found.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { x, y, width, height } = found.getBoundingClientRect();
        return [Math.round(x + width / 2), Math.round(y + height / 2)];
      })()`);
      await clickAt(x, y);
    },
    chord,
    type: async text => {
      const keys = [...text].flatMap(value => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await press(keys);
    },
    close: async () => {
      close();
      await end();
    },
  };
}
