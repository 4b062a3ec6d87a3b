/**
 * A server with a correct protocol and hostile text everywhere: its own name and instructions, and names, titles, descriptions, schemas,
 * icons, results and errors of its tools.
 */
import { loadCorpus } from '../../fixtures/corpora.ts';
import { startScripted, type ScriptedUpstream } from './scripted-upstream.ts';

/** Nothing is there; if a browser requests it, the request is counted. */
const ELSEWHERE = 'http://elsewhere.test';
/** Scripts; each calls the page test's `ran` if it runs. */
const SCRIPTS: readonly string[] = [
  '<script>ran()</script>',
  '<img src=x onerror=ran()>',
  '<svg onload=ran()>',
  '"><svg/onload=ran()>',
  "'><img src=x onerror=ran()>",
  '</textarea><img src=x onerror=ran()>',
  '</option></select><img src=x onerror=ran()>',
  '<iframe srcdoc="<script>parent.ran()</script>"></iframe>',
  '<details open ontoggle=ran()>',
  '<a href="javascript:ran()" autofocus onfocus=ran()>x</a>',
  `<img src=${ELSEWHERE}/a><link rel=stylesheet href=${ELSEWHERE}/b>`,
  `<meta http-equiv=refresh content="0;url=${ELSEWHERE}/c"><base href=${ELSEWHERE}>`,
  `<style>@import "${ELSEWHERE}/d"; main{position:fixed}</style>`,
  '{{constructor.constructor("ran()")()}}${ran()}',
  'javascript:ran()',
];
/** Texts that break a layout or a reader. */
const SHAPES: readonly string[] = [
  'W'.repeat(100_000),
  `${'Z\u0334\u0335\u0336\u0337\u0338\u0321\u0322\u0327\u0328\u0310\u0311\u0312'.repeat(500)}`,
  '\u202Egnp.exe\u202C \u2066left\u2069 \u200Bzero\u200D\uFEFF',
  '\uFDFD'.repeat(2_000),
  '\n'.repeat(5_000),
  '\u{E0041}\u{E0042}hidden tags',
  '\uD800 lone',
];
/** Long text added to the description of one tool; a server may send much. */
const LONG = 'long '.repeat(200_000);

/** How many texts of the corpus are joined into one. */
const TOGETHER = 20;

/** Returns all hostile texts, and the origin of the corpus. */
function hostileTexts(): { texts: readonly string[]; origin: string } {
  const { cases, origin } = loadCorpus('naughty-strings');
  const parts = Array.from({ length: Math.ceil(cases.length / TOGETHER) }, (_, at) =>
    cases.slice(at * TOGETHER, (at + 1) * TOGETHER).join('\n'),
  );
  return { texts: [...SCRIPTS, ...SHAPES, ...parts], origin };
}

/** Makes a tool with the text in every field. */
const toTool = (text: string, at: number): object => ({
  name: `tool_${at}`,
  title: text,
  description: at === 0 ? text + LONG : text,
  inputSchema: {
    type: 'object',
    title: text,
    properties: {
      [text]: { type: 'string', title: text, description: text },
      choice: { type: 'string', enum: [text, 'other'], description: text, default: text },
      [`${text} as JSON`]: { type: 'object', default: { [text]: text } },
    },
  },
  annotations: { title: text },
  icons: [{ src: `${ELSEWHERE}/icon.svg` }, { src: 'javascript:ran()' }],
  _meta: { [text]: text, ui: { resourceUri: `ui://${text}` } },
});

/** Makes a result with the text in every place. */
const toResult = (text: string): object => ({
  resultType: 'complete',
  content: [
    { type: 'text', text },
    { type: 'image', mimeType: text, data: 'AAAA' },
    { type: 'image', mimeType: 'image/png', data: `x" onerror="ran()` },
    { type: 'image', mimeType: 'image/svg+xml', data: btoa('<svg onload="ran()"/>') },
    { type: 'audio', mimeType: 'audio/wav', data: text },
    { type: 'resource_link', uri: 'javascript:ran()', name: text, title: text },
    {
      type: 'resource',
      resource: {
        uri: 'ui://hostile',
        mimeType: 'text/html;profile=mcp-app',
        text: `${text}<script>parent.ran?.(); top.ran?.(); fetch("${ELSEWHERE}/e")</script>`,
      },
    },
    { type: text, [text]: text },
  ],
  structuredContent: { [text]: [text] },
});

export interface Hostile extends ScriptedUpstream {
  texts: readonly string[];
  origin: string;
}

/** Starts it. `tool_N` has the text N, returns it, and fails with it if the argument `choice` is `other`. */
export async function startHostile(): Promise<Hostile> {
  const { texts, origin } = hostileTexts();
  const tools = texts.map(toTool);
  const upstream = await startScripted(
    'modern',
    { 'tools/list': { member: 'tools', items: tools } },
    ({ id, name, arguments: given }) => {
      const text = texts[Number(name.slice('tool_'.length))] ?? '';
      const error = { code: -32_000, message: text, data: { [text]: text } };
      const ending = given['choice'] === 'other' ? { error } : { result: toResult(text) };
      return { body: JSON.stringify({ jsonrpc: '2.0', id, ...ending }) };
    },
    { instructions: texts.join('\n').slice(0, 50_000), name: texts[1] ?? '' },
  );
  return { ...upstream, texts, origin };
}
