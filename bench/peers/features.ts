/**
 * The eighteen features that are checked. Each check compares what a client got with the true value: true if they are equal, false if an
 * answer came but something is lost. A thrown error counts as an error.
 */
import { isDeepStrictEqual } from 'node:util';
import { PNG, WAV } from '../../test/fixtures/conformance-call.ts';
import { RAW_JSON } from '../../test/fixtures/raw-json.ts';
import type { BenchClient, CallOptions, Listed } from './client.ts';
import { until } from './until.ts';

/** A server as a client sees it, through a gateway or directly. */
export interface View {
  client: BenchClient;
  /** The server's own tools, prompts and resources, for comparison. */
  own: Record<'tools' | 'prompts' | 'resources' | 'templates', readonly Listed[]>;
}

/** Both servers of an era. */
export interface Views {
  conformance: View;
  rich: View;
}

/** A feature: its name in the table and its check. */
export interface Feature {
  name: string;
  /** Undefined where the check cannot be made. */
  works(views: Views): Promise<boolean | undefined>;
}

const UNICODE =
  'naïve \u{1F680} \u{10FFFF} e\u0301 \u2028 \u200D "quoted" \\ / \u0000 \u007F עברית 漢字';
const WATCHED = 'test://watched-resource';
const RESOURCES = [
  `This is the content of ${WATCHED}.`,
  PNG,
  'Note note://1',
  'Note note://2',
  '<!DOCTYPE html><title>View</title>',
];
const BROKEN = { code: -31999, data: { kind: 'demo', list: [1, null, 'ü'] } };

/** A gateway may prefix a name, or wrap a URI. */
const isNamed = (seen: string, own: string) =>
  seen === own || seen.endsWith(own) || decodeURIComponent(seen).endsWith(own);

async function findName(view: View, kind: 'tools' | 'prompts', own: string): Promise<string> {
  const found = (await view.client.list(kind)).find(({ name }) => isNamed(name, own));
  if (!found) throw new Error(`${own} is not listed`);
  return found.name;
}

async function findUri(view: View, own: string): Promise<string> {
  const found = (await view.client.list('resources')).find(({ uri }) => isNamed(uri ?? '', own));
  if (found?.uri === undefined) throw new Error(`${own} is not listed`);
  return found.uri;
}

const call = async (view: View, own: string, given = {}, options: CallOptions = {}) =>
  view.client.call(await findName(view, 'tools', own), given, options);

const textOf = (result: Record<string, unknown>) =>
  (result['content'] as { text?: string }[] | undefined)?.[0]?.text;

const contentIs = async (view: View, own: string, content: object[]) =>
  isDeepStrictEqual((await call(view, own))['content'], content);

const hears = (view: View, ...words: string[]) =>
  until(() => view.client.told.some(text => words.every(word => text.includes(word))));

async function listsAll({ client, own }: View): Promise<boolean> {
  const seen = await client.list('tools');
  return own.tools.every(tool => {
    const same = seen.find(({ name }) => isNamed(name, tool.name));
    return (
      isDeepStrictEqual(same?.['inputSchema'], tool['inputSchema']) &&
      same?.['description'] === tool['description']
    );
  });
}

/** Reads all listed resources. */
async function readAll({ client }: View): Promise<unknown[]> {
  const read = (await client.list('resources')).map(async ({ uri = '' }) => {
    const { contents } = await client.read(uri);
    const [first] = contents as { text?: string; blob?: string }[];
    return first?.text ?? first?.blob;
  });
  return Promise.all(read);
}

async function hasResources({ conformance, rich }: Views): Promise<boolean> {
  const said = new Set([...(await readAll(conformance)), ...(await readAll(rich))]);
  const templates = await conformance.client.list('templates');
  return (
    RESOURCES.every(text => said.has(text)) &&
    templates.some(({ uriTemplate = '' }) => uriTemplate.endsWith('test://template/{id}/data'))
  );
}

async function passesError({ rich }: Views): Promise<boolean> {
  const name = await findName(rich, 'tools', 'broken');
  const error: unknown = await rich.client.call(name).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) return false;
  const { code, data } = error as Error & { code?: unknown; data?: unknown };
  return code === BROKEN.code && isDeepStrictEqual(data, BROKEN.data);
}

/** Whether calls reach the same process of the server: if each starts its own, no call sees another's change. */
async function isShared({ conformance }: Views): Promise<boolean> {
  const changed = async () => textOf(await call(conformance, 'test_changing_tool'));
  const before = await changed();
  await call(conformance, 'test_trigger_tool_change');
  return (await changed()) !== before;
}

/** A false result becomes undefined if the processes differ, since the feature could then not be checked. */
const unlessHidden =
  (works: (views: Views) => Promise<boolean>) =>
  async (views: Views): Promise<boolean | undefined> =>
    (await works(views)) || ((await isShared(views)) ? false : undefined);

async function isCancelled({ rich }: Views): Promise<boolean> {
  const counted = async () => textOf(await call(rich, 'executions', { of: 'hang, cancelled' }));
  const started = async () => textOf(await call(rich, 'executions', { of: 'hang' }));
  const [before, runs] = [await counted(), await started()];
  const gone = new AbortController();
  const hanging = call(rich, 'hang', {}, { signal: gone.signal }).catch(() => undefined);
  const isRunning = await until(async () => (await started()) !== runs);
  gone.abort();
  if (!isRunning) return false;
  await hanging;
  return until(async () => (await counted()) !== before);
}

async function hasLink({ rich }: Views): Promise<boolean> {
  const [link] = (await call(rich, 'link'))['content'] as { uri: string }[];
  if (!link) return false;
  const { uri, ...others } = link;
  const [first] = (await rich.client.read(uri))['contents'] as { text?: string }[];
  return isDeepStrictEqual(others, LINK) && first?.text === 'Note note://2';
}

async function tellsProgress({ conformance }: Views): Promise<boolean> {
  const steps: number[] = [];
  const onProgress = (step: number) => void steps.push(step);
  await call(conformance, 'test_tool_with_progress', {}, { onProgress });
  return isDeepStrictEqual(steps, [0, 50, 100]);
}

async function isStructured({ rich }: Views): Promise<boolean> {
  const listed = (await rich.client.list('tools')).find(({ name }) => isNamed(name, 'structured'));
  const output = rich.own.tools.find(({ name }) => name === 'structured')?.['outputSchema'];
  const expected = { celsius: 21.5, words: ['b', 'a'], deep: { z: null, a: [[]] } };
  return (
    isDeepStrictEqual(listed?.['outputSchema'], output) &&
    isDeepStrictEqual((await call(rich, 'structured'))['structuredContent'], expected)
  );
}

async function passesNumbers({ rich }: Views): Promise<boolean | undefined> {
  await call(rich, 'raw');
  if (rich.client.received() === '') return undefined;
  return until(() => rich.client.received().includes(RAW_JSON));
}

async function givesPrompt({ conformance }: Views): Promise<boolean> {
  const name = await findName(conformance, 'prompts', 'test_prompt_with_arguments');
  const { messages } = await conformance.client.prompt(name, { arg1: 'one', arg2: 'two' });
  const text = "Prompt with arguments: arg1='one', arg2='two'";
  return isDeepStrictEqual(messages, [{ role: 'user', content: { type: 'text', text } }]);
}

async function completes({ conformance }: Views): Promise<boolean> {
  const name = await findName(conformance, 'prompts', 'test_prompt_with_arguments');
  const values = await conformance.client.complete(name, 'arg1', 'par');
  return isDeepStrictEqual([...values], ['paris', 'park', 'party']);
}

async function isUpdated({ conformance }: Views): Promise<boolean> {
  await conformance.client.subscribe(await findUri(conformance, WATCHED));
  await call(conformance, 'test_trigger_resource_update');
  return hears(conformance, 'notifications/resources/updated', 'watched-resource');
}

async function changes({ conformance }: Views): Promise<boolean> {
  const described = async () =>
    (await conformance.client.list('tools')).find(({ name }) =>
      isNamed(name, 'test_changing_tool'),
    )?.['description'];
  const before = await described();
  await call(conformance, 'test_trigger_tool_change');
  if (!(await hears(conformance, 'notifications/tools/list_changed'))) return false;
  // The definition may wait for approval: a list without the old one is right too.
  return until(async () => (await described()) !== before);
}

const IMAGE = [{ type: 'image', data: PNG, mimeType: 'image/png' }];
const AUDIO = [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }];
const LINK = { type: 'resource_link', name: 'two', description: 'A note', size: 7 };
const isAsked = async ({ conformance }: Views, what: string, answer: string) =>
  textOf(await call(conformance, `test_input_required_result_${what}`)) === answer;

/** In the order of the table; checks that change something come last. */
export const features: readonly Feature[] = [
  {
    name: 'tools/list: every tool, its schema and description',
    works: async ({ conformance, rich }) => (await listsAll(conformance)) && listsAll(rich),
  },
  {
    name: 'text, with all of Unicode',
    works: async ({ rich }) => textOf(await call(rich, 'unicode')) === UNICODE,
  },
  {
    name: 'images and audio',
    works: async ({ conformance }) =>
      (await contentIs(conformance, 'test_image_content', IMAGE)) &&
      contentIs(conformance, 'test_audio_content', AUDIO),
  },
  { name: 'links to resources, which can be read', works: hasLink },
  { name: 'structured results with output schemas', works: isStructured },
  { name: 'numbers and escapes byte for byte', works: passesNumbers },
  { name: 'JSON-RPC errors with their code and data', works: passesError },
  { name: 'progress', works: tellsProgress },
  {
    name: 'log messages',
    works: async ({ conformance }) => {
      await call(conformance, 'test_tool_with_logging');
      return hears(conformance, 'notifications/message', 'Tool execution completed');
    },
  },
  { name: 'cancellation reaches the server', works: unlessHidden(isCancelled) },
  { name: 'resources: list in pages, templates, read', works: hasResources },
  { name: 'prompts', works: givesPrompt },
  { name: 'completion', works: completes },
  {
    name: 'sampling',
    works: views => isAsked(views, 'sampling', 'The model said: sampled'),
  },
  { name: 'elicitation', works: views => isAsked(views, 'elicitation', 'Hello, Ada!') },
  { name: 'roots', works: views => isAsked(views, 'list_roots', '1 root(s)') },
  { name: 'subscribed resources', works: unlessHidden(isUpdated) },
  { name: 'changed lists of tools', works: unlessHidden(changes) },
];
