/**
 * Checks whether a value fits an untrusted JSON Schema. Pure. It checks what it knows and refuses the rest: a schema that is malformed,
 * refers to something outside itself, uses a keyword whose meaning is not checked here, or takes too much work is `unusable`, which never
 * counts as a fit. Drafts 2020-12 (MCP's default), 2019-09, 7, 6 and 4.
 */
import { dereference, validate, type Schema, type SchemaDraft } from '@cfworker/json-schema';
import { toOneLine } from '../../shared/util/one-line.ts';
import { isObject } from '../../shared/protocol.ts';
import { SchemaCopier } from './schema-copy.ts';
import { forgetPattern, isOfPattern, SchemaPatterns } from './schema-patterns.ts';
import { SchemaUnusable } from './schema-unusable.ts';

export type SchemaFit =
  { fit: 'fits' } | { fit: 'differs'; detail: string } | { fit: 'unusable'; detail: string };

const MAX_DETAIL_CHARS = 300;

/**
 * A draft as the validator knows it. Drafts 4 and 6 are checked as 7: the copy translates what they express differently, and keywords that
 * they lack are checked too.
 */
interface Draft {
  name: SchemaDraft;
  hasOldIds?: boolean;
}

const DRAFTS: readonly (readonly [RegExp, Draft])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, { name: '2020-12' }],
  [/^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, { name: '2019-09' }],
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, { name: '7' }],
  [/^https?:\/\/json-schema\.org\/draft-04\/schema#?$/, { name: '7', hasOldIds: true }],
];

/**
 * @param schema untrusted
 * @param maxSteps most applications of a schema to a value
 */
export function checkSchema(schema: unknown, value: unknown, maxSteps: number): SchemaFit {
  try {
    const { name, hasOldIds = false } = draftOf(schema);
    const patterns = new SchemaPatterns(value, maxSteps);
    const copier = new SchemaCopier({ hasOldIds, maxSteps, patterns });
    const copy = copier.copy(schema) as Schema;
    const lookup = dereference(copy);
    for (const each of copier.byPattern) patterns.byName(each);
    const { valid, errors } = validate(value, copy, name, lookup, true);
    if (valid) return { fit: 'fits' };
    // The last error is the innermost one, which says most.
    const last = errors.at(-1);
    const where = last?.instanceLocation.replace(/^#/, '') || '/';
    const error = last?.error ?? '';
    const what = isOfPattern(error) ? 'String does not match pattern.' : error;
    return { fit: 'differs', detail: toOneLine(`${where}: ${what}`, MAX_DETAIL_CHARS) };
  } catch (thrown) {
    const why = thrown instanceof SchemaUnusable ? thrown.message : 'the schema cannot be applied';
    return { fit: 'unusable', detail: toOneLine(why, MAX_DETAIL_CHARS) };
  } finally {
    forgetPattern();
  }
}

function draftOf(schema: unknown): Draft {
  const said = isObject(schema) ? schema['$schema'] : undefined;
  if (said === undefined) return { name: '2020-12' };
  const known = DRAFTS.find(([form]) => typeof said === 'string' && form.test(said));
  if (!known) throw new SchemaUnusable('the schema names an unknown draft');
  return known[1];
}
