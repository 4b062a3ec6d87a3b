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
];
