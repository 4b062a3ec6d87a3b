/**
 * A megabyte of each hostile text through every function that scans text of clients, servers and models. On a quiet machine none takes a
 * tenth of a second of CPU time; the bounds leave room for a shared one, on which quadratic work still takes seconds. Regular expressions
 * by themselves are measured in `gates/expressions.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import { passwordsIn } from '../../cli/src/connect/hidden-values.ts';
import { toLine } from '../../cli/src/connect/one-line.ts';
import { toSaid } from '../../cli/src/connect/error-text.ts';
import { StderrTail } from '../../cli/src/connect/stderr-tail.ts';
import { ToolFilter } from '../../cli/src/connect/tool-filter.ts';
import { readHeaders } from '../../cli/src/gateway/headers.ts';
import { cut, formatTable, visible, wrap } from '../../cli/src/output/table.ts';
import { reportFailure } from '../../cli/src/failure.ts';
import { idFromEnds } from '../../cli/src/stdio/message.ts';
import { matches, toMatcher } from '../../src/shared/util/name-pattern.ts';
import { parseBearer } from '../../src/shared/identity/principal.ts';
import { readOutput, shownOutput, toSummary } from '../../src/agents/ask/evidence.ts';
import { decideInput } from '../../src/agents/ask/input-policy.ts';
import { parsePlan } from '../../src/agents/ask/plan.ts';
import { redactArguments, redactText } from '../../src/shared/redaction/redact-arguments.ts';
import { markedSchemaOf } from '../../src/shared/redaction/secret-marks.ts';
import { isSecretName, withoutSecretForms } from '../../src/shared/redaction/secret-patterns.ts';
import { directiveOfHeader } from '../../src/gateway/cache/cache-control.ts';
import { toFittingName } from '../../src/models/formats/names.ts';
import { parseQualifiedName, toQualifiedName } from '../../src/shared/naming/qualified-name.ts';
import { parseQualifiedUri, toQualifiedUri } from '../../src/shared/naming/qualified-uri.ts';
import { canonicalJson } from '../../src/shared/json/canonical-json.ts';
import { decodeHeaderValue, encodeHeaderValue } from '../../src/upstream/protocol/param-headers.ts';
import { rawMembers } from '../../src/shared/json/json-spans.ts';
import { toOneLine } from '../../src/shared/util/one-line.ts';
import { SseParser, toSseText } from '../../src/http/sse-events.ts';
import { hasHidden } from '../../src/shared/util/visible-text.ts';
import { isDisguised } from '../../src/servers/approvals/skeleton.ts';
import { toServerName } from '../../src/servers/transfer/import-names.ts';
import { fillAddress, fillHeader, toSecretName } from '../../src/servers/transfer/placeholders.ts';
import { toTerms } from '../../src/search/text/terms.ts';
import { namesIn } from '../../src/credentials/references.ts';
import { toSkillId } from '../../src/search/skills/skill.ts';
import { safeKey, safeValue, safeWord } from '../../src/tracing/safe-attributes.ts';
import { parseTraceparent } from '../../src/tracing/traceparent.ts';
import { parseMessage, withoutSecrets } from '../../src/upstream/protocol/message.ts';
import { statusError } from '../../src/upstream/protocol/status-error.ts';
import { leastCostOf, naughtyTexts, PIECES, repeated } from './hostile-texts.ts';

/** A megabyte, in UTF-16 units, and a part of it that exposes quadratic work before that takes minutes. */
const MEGABYTE = 1_048_576;
const PART = 32_768;
const withJson = (text: string) => [text, JSON.stringify(text)] as const;
const NAUGHTY = naughtyTexts(PART);
const LONG_PIECES = [
  '-eyJ',
  'a.',
  '-a',
  '"',
  '\\',
  'Bearer ',
  '://',
  '-----BEGIN ',
  ' ',
  '[[[[',
  '_',
  '0',
];
const SHORT = {
  texts: [...PIECES.map(piece => repeated(piece, PART)), ...NAUGHTY.texts].map(withJson),
  mostMs: 60,
};
const LONG = {
  texts: [...LONG_PIECES, NAUGHTY.texts.map(text => text.slice(0, 40)).join(' ')].map(piece =>
    withJson(repeated(piece, MEGABYTE)),
  ),
  mostMs: 250,
};
const FITS = { characters: 'A-Za-z0-9_-', maxChars: 64 };
const PATTERN = '*a*e*-*".*b*';
const SECRETS = ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'aaaaaaaaaaaaaaaaaaaa'];

/** A text as it may arrive, and the same as JSON. */
type Work = (text: string, json: string) => unknown;

const PLACES: Readonly<Record<string, Work>> = {
  'a name in the audit': text => redactText(text, 200),
  'arguments in the audit': (_, json) => redactArguments(`{"a":${json}}`, undefined),
  'an argument of the greatest length': text =>
    redactArguments(JSON.stringify({ a: text.slice(0, 30_000) }), undefined),
  'forms of secrets': text => withoutSecretForms(text),
  'a name that may be a secret of': text => isSecretName(text),
  'a schema that may mark secrets': (_, json) =>
    markedSchemaOf({ raw: new Map([['inputSchema', `{"description":${json}}`]]) }),
  'a word, a key and a value in a trace': text => [
    safeWord(text),
    safeKey(text),
    safeValue('a', text),
    safeValue('a', `{${text}`),
  ],
  'the output of a tool before a model': text => shownOutput(Array.from({ length: 16 }, () => text)),
  'evidence of a summary': text => {
    const claims = Array.from({ length: 10 }, () => ({ text: '', evidence: text.slice(0, 4_000) }));
    return toSummary(JSON.stringify({ claims }), [text.slice(0, 30_000), `${text}x`]);
  },
  'what is read of output': text => readOutput([text, text]),
  'a plan': (_, json) => parsePlan(`{"type":"none","reason":${json}}`.slice(0, 16_384)),
  'a request in words': text => decideInput(text, { maxChars: MEGABYTE, blocked: [PATTERN] }),
  'a pattern of a rule': text => [matches(PATTERN, text), toMatcher('*aab')(text)],
  'a bearer token': text => parseBearer(`Bearer ${text}`),
  'a cache directive': text => directiveOfHeader(text),
  'a name for a model': text => toFittingName(text, FITS),
  'a qualified name': text => [
    parseQualifiedName(text).length,
    parseQualifiedName(`${text}__b`).length,
    toQualifiedName('a', text, 'underscore'),
  ],
  'a qualified URI': text => [parseQualifiedUri(text), parseQualifiedUri(`ui://${text}`), toQualifiedUri('a', text)],
  'canonical JSON': (_, json) => canonicalJson(`{"a":[${json}]}`),
  'canonical numbers': text => canonicalJson(`[${text.replaceAll(/\D/g, '0').slice(1)}1]`),
  'a mirrored header': text => [encodeHeaderValue(text.slice(0, 65_536)), decodeHeaderValue(text)],
  'members of an object': (_, json) => rawMembers(`{"a":${json},${json}:1}`),
  'one line of a text': text => toOneLine(text, 300),
  'events of a stream': text => new SseParser(2 ** 24).push(`${text}\n\ndata: ${text}\n\n`),
  'an event for a stream': text => toSseText(text),
  'hidden characters': text => [hasHidden(text), isDisguised(text)],
  'a name in an import': text => [toServerName(text), toSecretName(text)],
  'a placeholder in an import': text => [fillHeader(text), fillAddress(text)],
  'references to secrets': text => namesIn(text),
  'words of a search': text => toTerms(text, 4_000),
  'an id of a skill': text => toSkillId(text),
  'a trace context': text => parseTraceparent(`00-${text}`),
  'a message of a server': (_, json) =>
    parseMessage(`{"jsonrpc":"2.0","id":1,"result":{"a":${json}}}`, 1),
  'an error of a server': (text, json) => {
    const error = `{"code":-32000,"message":${json}}`;
    return withoutSecrets({ kind: 'response', error, parsed: { code: 1, message: text } }, SECRETS);
  },
  'an error page of a server': text =>
    statusError(500, new Headers(), text, { id: 1, inSession: true }),
  'a text on a terminal': text => [visible(text.slice(0, 16_384)), cut(text.slice(0, 65_536), 80)],
  'lines on a terminal': text => wrap(text.slice(0, 65_536), 80),
  'a table on a terminal': text => formatTable(['A'], [[text.slice(0, 16_384)]], { columns: 80 }),
  'a line about a program': text => toLine(text.slice(0, 65_536), 80),
  'the last words of a program': text => {
    const tail = new StderrTail(4_096, ['secret-1', 'aaaaaaaa']);
    tail.push(Buffer.from(text));
    return [tail.last(), toSaid(tail.last())];
  },
  'what a program said': text => toSaid(text),
  'passwords in a configuration': text => passwordsIn([text]),
  'a filter of tools': text => new ToolFilter({ deny: ['*a*e*b'] }).allows(text.slice(0, 1_000)),
  'a header of the command line': text => readHeaders([`a: ${text}`], {}),
  'a failure of the command line': text => reportFailure(new Error(text), { write: () => true }),
  'a line that is too long': text =>
    idFromEnds(`{"id": "${text}`.slice(0, 1_024), `"id":"${text}`.slice(0, 1_024)),
}; // prettier-ignore

/** The texts that make a function slow. */
function slowAt(work: Work, { texts, mostMs }: typeof SHORT): string[] {
  const isSlow = ([text, json]: readonly [string, string]) => {
    const run = () => {
      try {
        work(text, json);
      } catch (error) {
        // A refusal is an answer; a stack overflow is not.
        if (error instanceof RangeError) throw error;
      }
    };
    return leastCostOf(run, mostMs / 2) > mostMs;
  };
  return texts.filter(isSlow).map(([text]) => JSON.stringify(text.slice(0, 20)));
}

describe(`a megabyte of hostile text (${NAUGHTY.origin})`, () => {
  it.each(Object.entries(PLACES))('[SEC-4] is handled within the bound: %s', (_place, work) => {
    expect([...slowAt(work, SHORT), ...slowAt(work, LONG)]).toEqual([]);
  });
});
