/** Equivalent mutants: no behaviour changes that anybody could see, with the reason. They are not counted. */
interface Equal {
  file: string;
  from: string;
  to: string;
  why: string;
}

const EACH_HAS_A_RESULT = 'a batch has one result for each statement';

/** By file: the original code, its replacement, and why both behave the same. */
const BY_FILE: Readonly<
  Record<string, readonly (readonly [from: string, to: string, why: string])[]>
> = {
  'src/shared/util/name-pattern.ts': [
    [
      'from < pattern.length',
      '(from) <= (pattern.length)',
      "behind a pattern's end is `undefined`, which is no character",
    ],
    ['before === undefined', 'true', 'the short ways say what the long one says'],
  ],
  'src/access/policy/policy.ts': [
    [
      'limit ?? ruling ?? NO_REASON',
      'limit ?? ruling',
      "there is always a ruling: the rules', or the posture's",
    ],
    ['false', 'true', 'it is of a reason that is never given: there is always a ruling'],
  ],
  'src/access/rules/checked-names.ts': [
    ['server ?? pattern', 'server', 'where there is none it was refused'],
  ],
  'src/access/admission/snapshots.ts': [
    ['rows.pop() ?? []', 'rows.pop()', EACH_HAS_A_RESULT],
    ["hmacs[0] ?? ''", 'hmacs[0]', 'there is a key, and so an HMAC'],
    [
      'sessionId === undefined ? 0 : ageOf(this.#sessions.get(sessionId), now)',
      'ageOf(this.#sessions.get(sessionId), now)',
      'no session has no id, and none that is missing is asked for',
    ],
    [
      'sessionId === undefined ? undefined : this.#sessions.get(sessionId)?.value',
      'this.#sessions.get(sessionId)?.value',
      'no session has no id',
    ],
    [
      "token === undefined ? [] : await keys.hmacs('token', token)",
      "await keys.hmacs('token', token)",
      'nothing of the policy is read then',
    ],
    ['token.lastUsedAt ?? 0', 'token.lastUsedAt', 'a number less null is the number'],
  ],
  'src/access/tokens/token-service.ts': [
    ['graceMs > 0', '(graceMs) >= (0)', 'a grace of nothing is over, and swept in the same write'],
    [
      'graceMs > 0 ? { id: crypto.randomUUID(), expiresAt: now + graceMs } : undefined',
      '{ id: crypto.randomUUID(), expiresAt: now + graceMs }',
      'a grace of nothing is over, and swept in the same write',
    ],
    ['found.filter(entry => entry !== undefined)', 'found', 'where one is undefined it is refused'],
    [
      'input.toolsets ? await listToolsetNames(db) : []',
      'await listToolsetNames(db)',
      'names that nobody asks for',
    ],
  ],
  'src/access/toolsets/toolset-service.ts': [
    ['added.length > 0', '(added.length) >= (0)', 'of no principals none is unknown'],
    [
      'added.length > 0 ? await findUnknownPrincipals(db, added) : []',
      'await findUnknownPrincipals(db, added)',
      'of no principals none is unknown',
    ],
  ],
  'src/audit/admin-audit.ts': [
    ['change.detail ?? {}', 'change.detail', 'a detail that is undefined is empty too'],
  ],
  'src/objects/audit-log-object.ts': [
    [
      '(await ctx.storage.getAlarm()) ?? Number.POSITIVE_INFINITY',
      '(await ctx.storage.getAlarm())',
      'null is a time that is long over, and an alarm of then is set anew',
    ],
    [
      'this.#chains.pruneAt ?? Number.POSITIVE_INFINITY',
      'this.#chains.pruneAt',
      'undefined is not before a time either',
    ],
    ['at >= this.#alarmAt', '(at) > (this.#alarmAt)', 'an alarm is set to the time it has'],
  ],
  'src/audit/audit-names.ts': [
    [
      '[...new Set(all)].filter(id => ID_FORM.test(id))',
      '[...new Set(all)]',
      'what is no id is shown as it is',
    ],
    [
      'ids.length === 0 ? new Map<string, string>() : await findNames(db, ids)',
      'await findNames(db, ids)',
      'no id has no name',
    ],
    ["server ?? ''", 'server', 'there are no servers without it'],
  ],
  'src/gateway/call-log/call-ends.ts': [
    ['ends.length === 0', 'false', 'nothing is given back either way'],
  ],
  'src/audit/calls/call-export.ts': [
    ['found?.results ?? []', 'found?.results', EACH_HAS_A_RESULT],
    ['principalId === undefined', 'false', "an object that is nobody's has no calls"],
    ['fresh.length > 0', 'true', 'the head is set to what it is'],
    ['fresh.length > 0', '(fresh.length) >= (0)', 'the head is set to what it is'],
    ['!first || !last', 'false', 'no rows are not written'],
    ['!first || !last', '(!first) && (!last)', 'rows have a first and a last one, or neither'],
  ],
  'src/audit/calls/call-store.ts': [
    ['end?.outcome ?? null', 'end?.outcome', 'a value that is `undefined` is bound as NULL'],
    ['end?.code ?? null', 'end?.code', 'a value that is `undefined` is bound as NULL'],
    [
      'seq === null || previous_hash === null',
      '(seq === null) && (previous_hash === null)',
      'a place is written whole',
    ],
    [
      'seq === null || previous_hash === null || hash === null',
      '(seq === null || previous_hash === null) && (hash === null)',
      'a place is written whole',
    ],
    ['isObject(parsed) ? parsed : {}', 'parsed', 'details are written as objects'],
    ['end ? null : leaseUntil', 'leaseUntil', 'only leases of open calls are looked at'],
  ],
  'src/audit/name-store.ts': [
    ['told?.results ?? []', 'told?.results', EACH_HAS_A_RESULT],
    ['now?.results ?? []', 'now?.results', EACH_HAS_A_RESULT],
  ],
  'src/audit/pruning.ts': [
    ['old.length < BATCH', 'false', 'it looks once more, and finds nothing'],
  ],
  'src/gateway/naming/bare-uri.ts': [
    ['!catalog', 'false', 'there is a catalog for each server'],
    ['close < open', '(close) <= (open)', 'two different characters do not stand in one place'],
  ],
  'src/gateway/results/content-blocks.ts': [
    [
      'edits.every(edit => edit === undefined)',
      'false',
      'it saves reading a text in which nothing is changed',
    ],
    ['given.length === 0', 'false', 'it saves reading a text in which nothing is changed'],
  ],
  'src/gateway/lists.ts': [
    ['!found.item', 'false', 'a tool that is resolved has its item'],
    [
      "throw new PorticoError('tool_not_found', `Tool not found: ${name}`);",
      '',
      'a tool that is resolved has its item',
    ],
    [
      'catalogs[i]?.[kind].items ?? []',
      'catalogs[i]?.[kind].items',
      'there is a catalog for each server',
    ],
    [
      "naming.renames?.key ?? ''",
      'naming.renames?.key',
      'it is a part of a key; no renames have that key',
    ],
    [
      "views?.get(id)?.key ?? ''",
      'views?.get(id)?.key',
      'it is a part of a key; no view has that key',
    ],
    [
      "naming.kind === 'own' ? 'own' : `${naming.style} ${naming.renames?.key ?? ''}`",
      "`${naming.style} ${naming.renames?.key ?? ''}`",
      'it is a part of a key; no style is called `undefined`',
    ],
  ],
  'src/gateway/results/legacy-schema.ts': [
    [
      "named.startsWith('\"')",
      "named.endsWith('\"')",
      'a JSON value that begins with a quote ends with one',
    ],
  ],
  'src/gateway/capabilities.ts': [
    ['legacyTasks', 'true', 'a member that is `undefined` is no member of JSON'],
    [
      'instructions === undefined ? { capabilities } : { capabilities, instructions }',
      '{ capabilities, instructions }',
      'a member that is `undefined` is no member of JSON',
    ],
  ],
  'src/gateway/results/older-content.ts': [
    ['unknown.length === 0', 'false', 'it saves looking for blocks of which none is unknown'],
  ],
  'src/upstream/protocol/param-headers.ts': [
    [
      "!text.includes(KEY) && !text.includes('\\\\u')",
      'false',
      'it saves reading a schema in which there is no annotation',
    ],
    [
      "raw.startsWith('\"')",
      "raw.endsWith('\"')",
      'a JSON value that begins with a quote ends with one',
    ],
  ],
  'src/gateway/naming/renames.ts': [
    ['name !== undefined', 'true', 'nobody asks for the tool behind a name that is `undefined`'],
  ],
  'src/gateway/resolve.ts': [
    [
      '!/^[A-Za-z0-9_-]{1,64}$/.test(name)',
      'false',
      'it saves a look at a list in which no such name is',
    ],
  ],
  'src/upstream/protocol/task-messages.ts': [
    ["members.get('task') ?? '{}'", "members.get('task')", 'such a result is known by its task'],
    ["isObject(parsed['_meta'])", 'true', 'it saves looking for what is not there'],
  ],
  'src/gateway/results/undeclared-input.ts': [
    [
      "typeof method === 'string' ? capabilityFor(method) : undefined",
      'capabilityFor(method)',
      'no capability is known for what is no text',
    ],
  ],
  'src/gateway/steps/cache.ts': [
    ['rule === undefined', 'false', 'what has no rule has no key, and goes out as it is'],
  ],
  'src/gateway/steps/request-state.ts': [
    [
      "message.kind === 'response' ? await seal(message, sealing) : message",
      'await seal(message, sealing)',
      'what is no response has no result, and passes',
    ],
    [
      "params.get('requestState') ?? 'null'",
      "params.get('requestState')",
      'only params with a state are opened',
    ],
    [
      "'response' in reply && reply.response.parsed['resultType'] !== 'input_required'",
      'false',
      'it saves a digest; what asks nothing passes',
    ],
  ],
  'src/gateway/steps/tasks.ts': [
    [
      "known.get(own) ?? ''",
      'known.get(own)',
      'a server agrees to what it was asked for and to nothing else (`upstream/streams/task-listener.ts`)',
    ],
    ["verdict?.era ?? 'legacy'", 'verdict?.era', 'a server that was asked in an era has one'],
  ],
  'src/mcp/admit.ts': [
    [
      'sealed === null ? undefined : await sessions.facts(sealed)',
      'await sessions.facts(sealed)',
      'what is no id has no facts',
    ],
  ],
  'src/http/address-policy.ts': [
    ["labels.at(-1) ?? ''", 'labels.at(-1)', 'a split text has a last part'],
  ],
};

export const EQUAL: readonly Equal[] = Object.entries(BY_FILE).flatMap(([file, mutants]) =>
  mutants.map(([from, to, why]) => ({ file, from, to, why })),
);
