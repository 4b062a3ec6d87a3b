/** Mutants that change nothing that anybody could see, with the reason. They are not counted. */
interface Equal {
  file: string;
  from: string;
  to: string;
  why: string;
}

export const EQUAL: readonly Equal[] = [
  {
    file: 'src/access/policy.ts',
    from: 'limit ?? ruling ?? NO_REASON',
    to: 'limit ?? ruling',
    why: "there is always a ruling: the rules', or the posture's",
  },
  {
    file: 'src/access/policy.ts',
    from: 'false',
    to: 'true',
    why: 'it is of a reason that is never given: there is always a ruling',
  },
  {
    file: 'src/access/pattern.ts',
    from: 'from < pattern.length',
    to: '(from) <= (pattern.length)',
    why: "behind a pattern's end is `undefined`, which is no character",
  },
  {
    file: 'src/access/pattern.ts',
    from: 'before === undefined',
    to: 'true',
    why: 'the short ways say what the long one says',
  },
  {
    file: 'src/gateway/resolve.ts',
    from: '!/^[A-Za-z0-9_-]{1,64}$/.test(name)',
    to: 'false',
    why: 'it saves a look at a list in which no such name is',
  },
  {
    file: 'src/gateway/legacy-schema.ts',
    from: "named.startsWith('\"')",
    to: "named.endsWith('\"')",
    why: 'a JSON value that begins with a quote ends with one',
  },
  {
    file: 'src/gateway/with-cache.ts',
    from: 'isHit ? { ...routed, isHit } : routed',
    to: '{ ...routed, isHit }',
    why: 'absent and false are the same to all who read it',
  },
  {
    file: 'src/gateway/core.ts',
    from: 'catalogs[i]?.[kind].items ?? []',
    to: 'catalogs[i]?.[kind].items',
    why: 'there is a catalog for each server',
  },
  {
    file: 'src/gateway/core.ts',
    from: "naming.renames?.key ?? ''",
    to: 'naming.renames?.key',
    why: 'it is a part of a key; no renames have that key',
  },
  {
    file: 'src/gateway/core.ts',
    from: "views?.get(id)?.key ?? ''",
    to: 'views?.get(id)?.key',
    why: 'it is a part of a key; no view has that key',
  },
  {
    file: 'src/gateway/bare-uri.ts',
    from: '!catalog',
    to: 'false',
    why: 'there is a catalog for each server',
  },
  {
    file: 'src/audit/call-ends.ts',
    from: 'ends.length === 0',
    to: 'false',
    why: 'nothing is given back either way',
  },
  {
    file: 'src/audit/call-store.ts',
    from: 'end?.outcome ?? null',
    to: 'end?.outcome',
    why: 'a value that is `undefined` is bound as NULL',
  },
  {
    file: 'src/audit/call-store.ts',
    from: 'end?.code ?? null',
    to: 'end?.code',
    why: 'a value that is `undefined` is bound as NULL',
  },
  {
    file: 'src/gateway/core.ts',
    from: "naming.kind === 'own' ? 'own' : `${naming.style} ${naming.renames?.key ?? ''}`",
    to: "`${naming.style} ${naming.renames?.key ?? ''}`",
    why: 'it is a part of a key; no style is called `undefined`',
  },
  {
    file: 'src/gateway/content-blocks.ts',
    from: 'edits.every(edit => edit === undefined)',
    to: 'false',
    why: 'it saves reading a text in which nothing is changed',
  },
  {
    file: 'src/gateway/content-blocks.ts',
    from: 'given.length === 0',
    to: 'false',
    why: 'it saves reading a text in which nothing is changed',
  },
  {
    file: 'src/gateway/older-content.ts',
    from: 'unknown.length === 0',
    to: 'false',
    why: 'it saves looking for blocks of which none is unknown',
  },
  {
    file: 'src/gateway/offer.ts',
    from: 'legacyTasks',
    to: 'true',
    why: 'a member that is `undefined` is no member of JSON',
  },
  {
    file: 'src/gateway/offer.ts',
    from: 'instructions === undefined ? { capabilities } : { capabilities, instructions }',
    to: '{ capabilities, instructions }',
    why: 'a member that is `undefined` is no member of JSON',
  },
  {
    file: 'src/gateway/param-headers.ts',
    from: "!text.includes(KEY) && !text.includes('\\\\u')",
    to: 'false',
    why: 'it saves reading a schema in which there is no annotation',
  },
  {
    file: 'src/gateway/param-headers.ts',
    from: "raw.startsWith('\"')",
    to: "raw.endsWith('\"')",
    why: 'a JSON value that begins with a quote ends with one',
  },
  {
    file: 'src/gateway/renames.ts',
    from: 'name !== undefined',
    to: 'true',
    why: 'nobody asks for the tool behind a name that is `undefined`',
  },
  {
    file: 'src/gateway/bare-uri.ts',
    from: 'close < open',
    to: '(close) <= (open)',
    why: 'two different characters do not stand in one place',
  },
  {
    file: 'src/gateway/task-messages.ts',
    from: "members.get('task') ?? '{}'",
    to: "members.get('task')",
    why: 'such a result is known by its task',
  },
  {
    file: 'src/gateway/task-messages.ts',
    from: "isObject(parsed['_meta'])",
    to: 'true',
    why: 'it saves looking for what is not there',
  },
  {
    file: 'src/gateway/with-tasks.ts',
    from: "verdict?.era ?? 'legacy'",
    to: 'verdict?.era',
    why: 'a server that was asked in an era has one',
  },
  {
    file: 'src/gateway/with-request-state.ts',
    from: "message.kind === 'response' ? await seal(message, sealing) : message",
    to: 'await seal(message, sealing)',
    why: 'what is no response has no result, and passes',
  },
  {
    file: 'src/gateway/with-request-state.ts',
    from: "params.get('requestState') ?? 'null'",
    to: "params.get('requestState')",
    why: 'only params with a state are opened',
  },
  {
    file: 'src/gateway/with-request-state.ts',
    from: "'response' in reply && reply.response.parsed['resultType'] !== 'input_required'",
    to: 'false',
    why: 'it saves a digest; what asks nothing passes',
  },
  {
    file: 'src/upstream/guard.ts',
    from: "labels.at(-1) ?? ''",
    to: 'labels.at(-1)',
    why: 'a split text has a last part',
  },
];
