/**
 * What a random server has and returns, as JSON text that no SDK would write: every member of the protocol and some unknown ones, numbers
 * and texts that a parser would change. The same seed gives the same world. Valid in its era.
 */
import { createRandom, type Random } from '../../unit/seeded.ts';
import type { Era } from './raw-client.ts';

/** A server's response to a request. */
export interface Said {
  /** Texts of the notifications before it. */
  notes: string[];
  member: 'result' | 'error';
  text: string;
}

export interface World {
  era: Era;
  /** Each item's text, by the method that lists it. */
  lists: ReadonlyMap<string, readonly string[]>;
  /** @param progressToken raw JSON of the request's token, if it has one */
  say(method: string, about: string, progressToken?: string): Said;
}

/** The member of each list's result. */
export const LISTED: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);

const TEXTS = String.raw`"" "é\u00e9" "\ud83d\ude80🚀" "line\nbreak" "\u2028" "\/" "\u0000" "\ud800" "日本" "data:x\n\n" "\ufeff" "null"`;
const NUMBERS =
  '0 -0 1.0 1e400 -1E+400 9223372036854775808 0.1000 1E2 5e-324 3.141592653589793238 true null';
const KEYS = String.raw`"a" "2" "1" "__proto__" "constructor" "" "\u0061b" "日本" "$ref" "uri" "type" "id" "result" "method"`;
const NAMES = ['a', 'a.b', 'a/b', 'a__b', 'x:y', '-', '0', 'ünï', 'constructor', 'd"q', '%20', '?'];
const URIS = ['file:///a', 'x:', 'urn:isbn:1', 'ui://v/1', 'note://日本', 'a+b://c', 'HTTP://U/'];
const TEMPLATES = ['x://{a}', 'file:///{+p}', 'db://t/{id}{?q,z*}'];
const SCHEMAS = [
  '{ "type" : "object" }',
  '{"type":"object","properties":{"é":{"const":12345678901234567890},"n":{"default":1.0}}}',
  '{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"x":{"enum":[1.0,null]}},"type":"object","properties":{"v":{"$ref":"#/definitions/x"}}}',
  '{"type":"object","$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}},"properties":{"n":{"$ref":"#/$defs/n"}}}',
  '{"type":"object","anyOf":[{"required":["a"]},{"not":{}}],"patternProperties":{"^x-":{}},"x-own":[1.50]}',
];
const quoted = JSON.stringify;
const words = (text: string) => text.split(' ');

/** Writes values and items from one random source. */
function createWriter(random: Random) {
  const maybe = (member: () => string) => (random.chance(0.5) ? [member()] : []);
  const text = () => random.pick(words(TEXTS));
  const some = (values: readonly string[]) => values.filter(() => random.chance(0.5));
  const value = (depth = 3): string => {
    const kind = random.below(depth > 0 ? 4 : 2);
    if (kind === 0) return text();
    if (kind === 1) return random.pick(words(NUMBERS));
    const space = random.pick(['', '', ' ', '\t']);
    const count = random.below(4);
    if (kind === 2) return `[${space}${Array.from({ length: count }, () => value(depth - 1))}]`;
    const keys = new Set(Array.from({ length: count }, () => random.pick(words(KEYS))));
    return `{${space}${Array.from(keys, key => `${key}${space}:${value(depth - 1)}`).join()}}`;
  };
  const meta = () => `"_meta":{"com.example/x":${value()}}`;
  const rest = () => [...maybe(meta), ...maybe(() => `"x-own":${value()}`)];
  const annotations = () =>
    `"annotations":{${some(['"audience":["user"]', '"priority":0.50', '"x":[1.0]'])}}`;
  const about = () => [
    ...maybe(() => `"title":${text()}`),
    ...maybe(() => `"description":${text()}`),
    ...maybe(() => '"icons":[{"src":"data:image/png;base64,AA==","sizes":["48x48"],"x":1.0}]'),
    ...rest(),
  ];
  const of = (...members: string[]) => `{${members.join()}}`;
  const mimeType = () => maybe(() => '"mimeType":"text/plain; charset=utf-8"');
  const content = () =>
    of(
      `"uri":${quoted(random.pick(URIS))}`,
      ...mimeType(),
      random.chance(0.5) ? '"blob":"AAECAw=="' : `"text":${text()}`,
      ...rest(),
    );
  const block = () => {
    const blocks = [
      () => [`"text":${text()}`, '"type":"text"'],
      () => ['"type":"image"', '"data":"AA=="', '"mimeType":"image/png"'],
      () => ['"type":"audio"', '"data":""', '"mimeType":"audio/wav"'],
      () => ['"type":"resource"', `"resource":${content()}`],
      () => [
        '"type":"resource_link"',
        `"uri":${quoted(random.pick(URIS))}`,
        `"name":${text()}`,
        ...about(),
      ],
    ];
    return of(...random.pick(blocks)(), ...maybe(annotations));
  };
  const many = (make: () => string) => `[${Array.from({ length: random.below(4) }, make).join()}]`;
  return {
    random,
    maybe,
    text,
    some,
    value,
    meta,
    rest,
    annotations,
    about,
    of,
    mimeType,
    content,
    block,
    many,
  };
}

type Writer = ReturnType<typeof createWriter>;

const ITEMS: Readonly<Record<string, (writer: Writer) => string[]>> = {
  'tools/list': ({ random, some, maybe, about, of }) =>
    some(NAMES).map(name =>
      of(
        `"name":${quoted(name)}`,
        `"inputSchema":${random.pick(SCHEMAS)}`,
        ...maybe(() => `"outputSchema":${random.pick(SCHEMAS)}`),
        ...maybe(() => `"annotations":{"readOnlyHint":true,"x":-0}`),
        ...maybe(() => '"execution":{"taskSupport":"forbidden"}'),
        ...about(),
      ),
    ),
  'prompts/list': ({ some, about, of, many, text }) =>
    some(NAMES).map(name =>
      of(
        `"name":${quoted(name)}`,
        ...about(),
        `"arguments":${many(() => `{"name":${text()},"required":true,"x":1.0}`)}`,
      ),
    ),
  'resources/list': ({ some, about, of, text, mimeType, maybe, annotations }) =>
    some(URIS).map(uri =>
      of(
        `"uri":${quoted(uri)}`,
        `"name":${text()}`,
        ...about(),
        ...mimeType(),
        ...maybe(annotations),
        ...maybe(() => '"size":9007199254740991'),
      ),
    ),
  'resources/templates/list': ({ some, about, of, text, mimeType }) =>
    some(TEMPLATES).map(uri =>
      of(`"uriTemplate":${quoted(uri)}`, `"name":${text()}`, ...about(), ...mimeType()),
    ),
};

const RESULTS: Readonly<Record<string, (writer: Writer) => string[]>> = {
  'tools/call': ({ many, block, maybe, value }) => [
    `"content":${many(block)}`,
    ...maybe(() => `"structuredContent":{"a":${value()}}`),
    ...maybe(() => '"isError":true'),
  ],
  'prompts/get': ({ many, block, maybe, text }) => [
    ...maybe(() => `"description":${text()}`),
    `"messages":${many(() => `{"role":"user","content":${block()},"x":1.0}`)}`,
  ],
  'resources/read': ({ many, content }) => [`"contents":${many(content)}`],
  'completion/complete': ({ text, maybe }) => [
    `"completion":{"values":[${text()}],"hasMore":false,"x":1.0${maybe(() => ',"total":1.0')}}`,
  ],
};

function notesOf({ random, value, text }: Writer, progressToken?: string): string[] {
  const all = [`{"method":"notifications/com.example/own","jsonrpc":"2.0","params":{"a":1.0}}`];
  if (progressToken !== undefined) {
    const params = `"progressToken":${progressToken},"progress":0.50,"total":1E2,"message":${text()},"x":${value()}`;
    all.push(`{"jsonrpc":"2.0","method":"notifications/progress","params":{${params}}}`);
  }
  return all.filter(() => random.chance(0.7));
}

/** Creates the world of a seed. */
export function createWorld(era: Era, seed: number): World {
  const writer = createWriter(createRandom(seed));
  const lists = Array.from(
    LISTED.keys(),
    method => [method, ITEMS[method]?.(writer) ?? []] as const,
  );
  return {
    era,
    lists: new Map(lists),
    say(method, about, progressToken) {
      const spread = [...`${method} ${about}`].reduce(
        (sum, char) => sum * 31 + (char.codePointAt(0) ?? 0),
        seed,
      );
      const own = createWriter(createRandom(spread % 2 ** 32));
      const notes = notesOf(own, progressToken);
      if (own.random.chance(0.25)) {
        const code = own.random.pick([-32603, -32002, -31999, 0, 1, 2147483647]);
        const text = `{ "code":${code},"message":${own.text()},"data":${own.value()},"x":1.0}`;
        return { notes, member: 'error', text };
      }
      const caching = method === 'resources/read' ? ['"ttlMs":1', '"cacheScope":"private"'] : [];
      const head = era === 'modern' ? ['"resultType":"complete"', ...caching] : [];
      const text = own.of(...head, ...(RESULTS[method]?.(own) ?? []), ...own.rest());
      return { notes, member: 'result', text };
    },
  };
}
