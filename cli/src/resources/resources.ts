/**
 * The records that have a command each: their API path, list columns and options. The commands themselves are shared
 * (`commands/resources.ts`).
 */
import type { z } from 'zod';
import type {
  GroupViewSchema,
  PrincipalViewSchema,
} from '../../../src/access/principals/principal-schema.ts';
import type { BudgetViewSchema } from '../../../src/access/budgets/budget-schema.ts';
import type { RuleViewSchema } from '../../../src/access/rules/rule-schema.ts';
import type { ToolsetViewSchema } from '../../../src/access/toolsets/toolset-schema.ts';
import type { SecretViewSchema } from '../../../src/credentials/secret-schema.ts';
import type { ConnectorView } from '../../../src/servers/connectors/connector-schema.ts';
import { kindOf } from '../configuration/kinds.ts';
import type { ServerRecord } from '../gateway/api.ts';
import { findHeldNote } from '../gateway/approvals.ts';
import type { TableLook } from '../terminal.ts';
import { describe, text, type Field, type Resource } from './resource.ts';
import { SIGN_IN_RESOURCES } from './sign-in-resources.ts';
import { toSubjectText } from './subject.ts';

/** Taken from the kind's definition for configuration files. */
const ofKind = (kind: Parameters<typeof kindOf>[0]) => {
  const { noun, path, list } = kindOf(kind);
  return { noun, path, list };
};

const [RULES, PRINCIPALS] = [ofKind('rule'), ofKind('principal')];
const STATES: TableLook = { hasStates: true };

const list = (field: string, flags: string, about: string): Field => ({
  field,
  flags,
  about: `${about}; may be repeated`,
  takes: 'list',
});
const DESCRIPTION = text('description', '--description <text>', 'what it is for');
const READ_ONLY = 'only tools that are annotated read-only';

/** Servers also have commands of their own (`commands/servers.ts`). */
export const SERVER = describe<ServerRecord>({
  name: 'servers',
  ...ofKind('server'),
  none: 'no servers yet; portico servers add, or portico import',
  columns: [
    ['NAME', ({ name }) => name],
    ['STATUS', ({ status }) => status],
    ['HEALTH', ({ health }) => health.state],
    [
      'TOOLS',
      ({ tool_count: count, held_tools: held }) =>
        held > 0 ? `${count} (${held} held)` : String(count),
    ],
    ['TYPE', ({ transport_type: type }) => type],
    ['LAST ERROR', ({ last_error: problem }) => problem ?? ''],
  ],
  look: { ...STATES, last: 'wrap' },
  beside: (api, servers) =>
    servers.some(({ held_tools: held }) => held > 0)
      ? findHeldNote(api)
      : Promise.resolve(undefined),
  example: { id: 'github', new: ['add docs https://docs.example.com/mcp'] },
  removal: 'Its tools are removed with it.',
});

export const RESOURCES: readonly Resource[] = [
  describe<ConnectorView>({
    name: 'connectors',
    called: 'machines that offer programs',
    ...ofKind('connector'),
    none: 'no connectors yet; portico connect --enroll NAME',
    columns: [
      ['NAME', ({ name }) => name],
      ['STATUS', ({ status }) => status],
      ['SINCE', ({ last_seen_at: seen }) => seen ?? 'never'],
    ],
    look: STATES,
    example: { id: 'laptop' },
    removal: `Its machine is disconnected at once. Its servers stay registered but cannot be
reached. To move them to another machine, do not remove the connector; run
portico connect --enroll NAME --replace there.`,
  }),
  describe<z.infer<typeof RuleViewSchema>>({
    name: 'rules',
    ...RULES,
    none: 'no rules yet; portico rules add',
    columns: [
      ['ID', ({ id }) => id],
      ['EFFECT', ({ effect }) => effect],
      ['SUBJECT', ({ subject }, names) => toSubjectText(subject, names)],
      ['SERVER', ({ server }) => server],
      ['TOOL', ({ tool, read_only: isReadOnly }) => (isReadOnly ? `${tool} (read-only)` : tool)],
      ['DESCRIPTION', ({ description }) => description],
    ],
    written: 'records',
    fields: [
      {
        ...text('effect', '--effect <effect>', 'what the rule does'),
        choices: ['allow', 'deny'],
      },
      {
        field: 'subject',
        flags: '--subject <subject>',
        about: 'everyone, group:NAME or principal:NAME',
        takes: 'subject',
      },
      text('server', '--server <pattern>', 'a server, or a pattern like prod-*'),
      text('tool', '--tool <pattern>', 'a tool of the server, or a pattern like get_*'),
      { field: 'read_only', flags: '--read-only', about: READ_ONLY, takes: 'flag' },
      { field: 'read_only', flags: '--no-read-only', about: 'all tools', takes: 'flag' },
      DESCRIPTION,
    ],
    example: {
      id: 'ID',
      new: [
        'add --effect allow --subject everyone --server docs --read-only',
        "add --effect deny --subject group:interns --tool 'delete_*'",
      ],
      edit: '--subject principal:Ada',
      json: '{"server": "*"}',
    },
  }),
  describe<z.infer<typeof BudgetViewSchema>>({
    name: 'budgets',
    called: 'daily limits of calls',
    none: 'no budgets yet; portico budgets add',
    columns: [
      ['ID', ({ id }) => id],
      ['SUBJECT', ({ subject }, names) => toSubjectText(subject, names)],
      ['CALLS A DAY', ({ calls_per_day: calls }) => String(calls)],
      ['USED TODAY', ({ used_today: used }) => (used === null ? 'not known' : String(used))],
      ['RESETS', ({ ends_at: end }) => end],
    ],
    written: 'records',
    fields: [
      {
        field: 'subject',
        flags: '--subject <subject>',
        about: 'group:NAME or principal:NAME; cannot be changed later',
        takes: 'subject',
      },
      {
        field: 'calls_per_day',
        flags: '--calls <number>',
        about: 'calls per day (UTC)',
        takes: 'number',
      },
    ],
    example: {
      id: 'ID',
      new: ['add --subject group:interns --calls 2000', 'add --subject principal:Ada --calls 500'],
      edit: '--calls 5000',
      json: '{"calls_per_day": 5000}',
    },
    removal: 'A budget created again on the same day still counts the calls of that day.',
  }),
  describe<z.infer<typeof PrincipalViewSchema>>({
    name: 'principals',
    ...PRINCIPALS,
    none: 'no principals yet; portico principals add NAME, or portico token create NAME',
    columns: [
      ['NAME', ({ name }) => name],
      ['ID', ({ id }) => id],
      ['TOKENS', ({ tokens }) => String(tokens)],
      ['SCOPES', ({ scopes }) => scopes?.join(' ') ?? 'of each token'],
      ['GROUPS', ({ groups }) => groups.join(' ')],
    ],
    written: 'named',
    fields: [
      list('groups', '--group <name>', 'a group that it belongs to'),
      list('scopes', '--scope <scope>', 'a scope that its tokens may have at most'),
    ],
    example: {
      id: 'Ada',
      new: [
        'add Ada --group staff --group on-call',
        'add ci --scope tools:read --scope tools:call',
      ],
      edit: '--group staff --scope tools:read',
      json: '{"groups": [], "scopes": null}',
    },
    removal: 'Its tokens are revoked, and rules that are only for it are deleted.',
  }),
  ...SIGN_IN_RESOURCES,
  describe<z.infer<typeof GroupViewSchema>>({
    name: 'groups',
    none: 'no groups yet; one exists once a principal or a rule names it',
    columns: [
      ['NAME', ({ name }) => name],
      ['MEMBERS', ({ members }) => String(members)],
      ['RULES', ({ rules }) => String(rules)],
    ],
    written: 'derived',
    whatElse: async (api, name) => ({
      principals: await api.list(PRINCIPALS.path, PRINCIPALS.list, { group: name }),
      access_rules: await api.list(RULES.path, RULES.list, {
        subject_kind: 'group',
        subject: name,
      }),
    }),
    example: { id: 'staff' },
  }),
  describe<z.infer<typeof ToolsetViewSchema>>({
    name: 'toolsets',
    ...ofKind('toolset'),
    none: 'no toolsets yet; portico toolsets add NAME',
    columns: [
      ['NAME', ({ name }) => name],
      ['PATH', ({ path }) => path],
      ['INCLUDES', ({ include }) => include.join(' ')],
      ['EXCLUDES', ({ exclude }) => exclude.join(' ')],
    ],
    written: 'named',
    fields: [
      list('include', '--include <pattern>', 'tools in it, like github.get_*'),
      list('exclude', '--exclude <pattern>', 'tools to leave out of those'),
      {
        ...text('name_style', '--name-style <style>', 'how tool names are written'),
        choices: ['dot', 'colon', 'underscore'],
      },
      {
        ...text('tools', '--tools <kind>', 'what its endpoint lists'),
        choices: ['all', 'search', 'ask', 'chat'],
      },
      DESCRIPTION,
    ],
    example: {
      id: 'triage',
      new: ["add triage --include 'github.get_*' --include 'github.list_*'"],
      edit: '--tools search',
      json: '{"members": {"groups": ["staff"]}}',
    },
    removal: 'A token that is limited to this toolset can then use no tool.',
  }),
  describe<z.infer<typeof SecretViewSchema>>({
    name: 'secrets',
    ...ofKind('secret'),
    none: 'no secrets yet; portico secrets set NAME',
    columns: [
      ['NAME', ({ name }) => name],
      ['CHANGED', ({ updated_at: changed }) => changed.slice(0, 10)],
      ['SERVERS', ({ servers }) => servers.map(({ name }) => name).join(' ')],
      ['ORIGINS', ({ origins }) => origins.join(' ')],
    ],
    written: 'value',
    fields: [
      list('origins', '--origin <url>', 'origin that it may be sent to (default: as before)'),
    ],
    example: { id: 'GITHUB_TOKEN' },
    removal: 'A secret that a server refers to cannot be removed.',
  }),
];
