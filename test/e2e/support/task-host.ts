/**
 * A host that does tasks with a script instead of a model. It sees what a model sees: the task in a person's words, definitions of tools,
 * results. It takes the first tool whose parameters the facts fill, using all facts and filling every required parameter. Tools are tried
 * in order: the gateway's order for a search, and by words shared with the task for a full list.
 */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { RawClient } from './raw-client.ts';
import { fillFromHit, readHit, type Hit } from './hit-reader.ts';
import { listAllTools, resultOf } from './raw-client.ts';
import type { Task } from '../../fixtures/tasks.ts';

/** Everything that a host is told of a task. */
export type Wanted = Pick<Task, 'wanted' | 'facts'>;

export interface Done {
  /** The result of the called tool. */
  answer: unknown;
  /** Requests to the gateway, without those for the list of tools. */
  calls: number;
  /** What a model reads and writes for the task, including the list of tools (o200k_base). */
  tokens: number;
}

interface Definition {
  name: string;
  description?: string;
  inputSchema: { properties?: Record<string, { description?: string }>; required?: string[] };
}

const ajv = new AjvJsonSchemaValidator();
const FILLERS = new Set(
  'a an the of to in is it my me are we all there that do does for on with i'.split(' '),
);
const toWords = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    .filter(word => !FILLERS.has(word))
    .map(word => word.replace(/(?<=..)(?:ies|es|s|ed|ing)$/, ''));

/**
 * Returns arguments that put each fact where the schema has a place for it; undefined if a fact has no place, or a required one is missing.
 */
function fill({ inputSchema }: Definition, facts: Wanted['facts']): object | undefined {
  const free = new Map(Object.entries(inputSchema.properties ?? {}));
  const given: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(facts)) {
    const key = free.has(word)
      ? word
      : [...free].find(([, { description = '' }]) =>
          toWords(description).includes(toWords(word)[0] ?? ''),
        )?.[0];
    if (key === undefined) return undefined;
    free.delete(key);
    given[key] = value;
  }
  const { valid } = ajv.getValidator(inputSchema as never)(given as never);
  return valid ? given : undefined;
}

/** Counts what a model reads of a list: each definition as listed. */
const tokensOf = (value: unknown): number => countTokens(JSON.stringify(value));
const tokensOfList = (tools: readonly unknown[]): number =>
  tools.reduce<number>((sum, tool) => sum + tokensOf(tool), 0);

/** Calls a tool. @returns its result, and the tokens that the model wrote and read for it */
async function useTool(client: RawClient, name: string, given: object) {
  const result = resultOf(await client.call(name, given));
  const text = result.content.map(block => block.text ?? '').join('\n');
  const tokens = tokensOf({ name, arguments: given }) + countTokens(text);
  return { result, text, tokens };
}

/** Does a task at an endpoint that lists three tools. Without a description, the line of the hit is all that it knows of a tool. */
export async function doBySearch(client: RawClient, { wanted, facts }: Wanted): Promise<Done> {
  const list = await listAllTools(client);
  const [search, describe, call] = list.map(({ name }) => name);
  let calls = 0;
  let tokens = tokensOfList(list);
  const use = async (name = '', given: object = {}) => {
    const used = await useTool(client, name, given);
    calls += 1;
    tokens += used.tokens;
    return used;
  };
  const found = await use(search, { query: wanted });
  for (const line of found.text.split('\n')) {
    const hit = readHit(line);
    const given = hit && (await argumentsOf(hit, facts, name => use(describe, { name })));
    if (!given) continue;
    const { result } = await use(call, { name: hit.name, arguments: given });
    return { answer: result['structuredContent'], calls, tokens };
  }
  return { answer: undefined, calls, tokens };
}

/** Returns the arguments from the line of a hit; if the line is not enough, has the tool described. */
async function argumentsOf(
  hit: Hit,
  facts: Wanted['facts'],
  describe: (name: string) => Promise<{ text: string }>,
): Promise<object | undefined> {
  const verdict = fillFromHit(hit, facts);
  if (verdict !== 'unsure') return verdict;
  const [line = ''] = (await describe(hit.name)).text.split('\n');
  return fill(JSON.parse(line) as Definition, facts);
}

/** Ranks tools by the words that they share with a task; words of many tools count little. */
function createReader(tools: readonly Definition[]) {
  const texts = tools.map(({ name, description }) => new Set(toWords(`${name} ${description}`)));
  const weights = new Map<string, number>();
  for (const words of texts)
    for (const word of words) weights.set(word, (weights.get(word) ?? 0) + 1);
  return (wanted: string): Definition[] => {
    const words = [...new Set(toWords(wanted))];
    const scores = texts.map(text =>
      words.reduce(
        (sum, word) => sum + (text.has(word) ? 1 / (weights.get(word) ?? 1) ** 0.5 : 0),
        0,
      ),
    );
    return tools
      .map((tool, at) => ({ tool, score: scores[at] ?? 0 }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .map(({ tool }) => tool);
  };
}

/** Does tasks at an endpoint that lists all tools: reads the list once, and calls. */
export async function readFullList(client: RawClient): Promise<(wanted: Wanted) => Promise<Done>> {
  const list = (await listAllTools(client)) as Definition[];
  const rank = createReader(list);
  const whole = tokensOfList(list);
  return async ({ wanted, facts }) => {
    for (const tool of rank(wanted)) {
      const given = fill(tool, facts);
      if (!given) continue;
      const { result, tokens } = await useTool(client, tool.name, given);
      return { answer: result['structuredContent'], calls: 1, tokens: whole + tokens };
    }
    return { answer: undefined, calls: 0, tokens: whole };
  };
}
