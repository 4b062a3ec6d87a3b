/**
 * Toolsets: what their bodies mean. A definition in which two tools would have one name, or that names something that does not exist, is
 * refused when it is written, so that none is ever served.
 */
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import { whereNamed } from '../../records/record-store.ts';
import { createEditedRecords, type EditedRecords } from '../../records/records.ts';
import { withGone } from '../../servers/server-names.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import type { Definition } from '../policy/toolset.ts';
import { findUnknownPrincipals } from '../principals/principal-store.ts';
import {
  listToolsetNames,
  MAX_TOOLSETS,
  MAX_TOOLSETS_CHARS,
  TOOLSETS,
} from './toolset-list-store.ts';
import {
  judgeDefinition,
  type CreateToolset,
  type StoredToolset,
  type ToolsetQuery,
  type UpdateToolset,
} from './toolset-schema.ts';

export type Toolsets = EditedRecords<StoredToolset, CreateToolset, ToolsetQuery, UpdateToolset>;

export function createToolsets({ db, adminAudit, onAccessChanged }: AccessPorts): Toolsets {
  return createEditedRecords(
    { db, adminAudit },
    {
      table: TOOLSETS,
      noun: 'toolset',
      missing: 'No such toolset',
      onChanged: onAccessChanged,

      async make({ name, description, ...given }: CreateToolset, servers, stamp) {
        const definition = await judgeToolset(db, given, servers);
        return { ...stamp, name, description, definition };
      },

      /** A rename changes the toolset's URL. */
      async edit(before, patch: UpdateToolset, servers) {
        const { name = before.name, description = before.description, ...given } = patch;
        const definition = await edit(db, before.definition, given, servers);
        return { ...before, name, description, definition };
      },

      whyNot: toolset => whyNot(db, toolset),

      filter: ({ name }: ToolsetQuery) => whereNamed(name),
      toDetail: ({ name }) => ({ name }),
      toEditDetail: ({ name }, patch) => ({ name, fields: Object.keys(patch).toSorted() }),
    },
  );
}

/** Returns the definition after an edit; parts that the edit leaves unchanged are not checked again for deleted names. */
async function edit(
  db: D1Database,
  before: Definition,
  patch: Omit<UpdateToolset, 'name' | 'description'>,
  servers: readonly NamedServer[],
): Promise<Definition> {
  const { include = before.include, exclude = before.exclude } = patch;
  const { overrides = before.overrides, members = before.members } = patch;
  const { name_style: style = before.name_style, tools = before.tools } = patch;
  const stored = [
    ...before.include,
    ...before.exclude,
    ...before.overrides.map(({ server }) => server),
  ];
  const after: Definition = {
    include,
    exclude,
    overrides,
    ...(style ? { name_style: style } : {}),
    ...(tools ? { tools } : {}),
    ...(members ? { members } : {}),
  };
  return judgeToolset(db, after, withGone(servers, stored), before.members?.principals);
}

/**
 * Returns a definition as it would be stored.
 * @param kept principals that stay members, even if they were deleted
 * @throws PorticoError `validation_failed` with every invalid field
 */
export async function judgeToolset(
  db: D1Database,
  given: Definition,
  servers: readonly NamedServer[],
  kept: readonly string[] = [],
): Promise<Definition> {
  const { definition, problems } = judgeDefinition(given, servers);
  const added = (given.members?.principals ?? []).filter(id => !kept.includes(id));
  const unknown = added.length > 0 ? await findUnknownPrincipals(db, added) : [];
  const message = `there is no principal ${unknown.join(', ')}`;
  const field = 'members.principals';
  refuseFields(unknown.length > 0 ? [...problems, { field, message }] : problems);
  return definition;
}

/** Returns why a toolset could not be written: its name is taken, or there is no room. */
async function whyNot(db: D1Database, { id, name }: StoredToolset): Promise<PorticoError> {
  const all = await listToolsetNames(db);
  const isTaken = all.some(
    other => other.id !== id && other.name.toLowerCase() === name.toLowerCase(),
  );
  return new PorticoError(
    'conflict',
    isTaken
      ? `A toolset named ${name} exists already`
      : `There can be ${MAX_TOOLSETS} toolsets with ${MAX_TOOLSETS_CHARS} characters of definitions at most; delete one`,
  );
}
