/**
 * The kinds of records that a file can hold, in the order of their creation: their API path, how to read them from the file and from the
 * API, and which fields cannot be edited. Pure.
 */
import type { z } from 'zod';
import type { BudgetViewSchema } from '../../../src/access/budgets/budget-schema.ts';
import type { PrincipalViewSchema } from '../../../src/access/principals/principal-schema.ts';
import type { RuleViewSchema } from '../../../src/access/rules/rule-schema.ts';
import type { ToolsetViewSchema } from '../../../src/access/toolsets/toolset-schema.ts';
import type { EntryViewSchema } from '../../../src/agents/ask/allowlist-schema.ts';
import type { Configuration } from '../../../src/api/configuration-file.ts';
import type { SecretViewSchema } from '../../../src/credentials/secret-schema.ts';
import type { CacheRuleViewSchema } from '../../../src/servers/cache-rules/cache-rule-schema.ts';
import type { ConnectorView } from '../../../src/servers/connectors/connector-schema.ts';
import type { ServerView } from '../../../src/servers/registry/server-schema.ts';
import type { OwnedKind } from '../../../src/shared/identity/record-owner.ts';
import { canonical, compact, type Content, type Wanted } from './content.ts';
import { spellPattern, type Names } from './names.ts';

export type Section = Exclude<keyof Configuration, 'owner'>;
type RecordOf<S extends Section> = NonNullable<Configuration[S]>[string];

interface Described<S extends Section, View> {
  kind: OwnedKind;
  section: S;
  /** Name of the kind for people; `kind` by default. */
  noun: string;
  path: string;
  /** Member of a page that holds the records; `section` by default. The response to a creation may have the record in a member. */
  list: string;
  /** Fields that cannot be edited, none by default, and whether a change of them replaces the record. */
  fixed: { fields: readonly string[]; isReplaced: boolean };
  /** The gateway allows only one record with the same identity. */
  hasOneOfEach: boolean;
  /** The identity of a record to people: a record of another owner with the same identity is the same record. */
  identityOf(content: Content): string;
  ofFile(key: string, record: RecordOf<S>, names: Names): Content;
  ofView(view: View, names: Names): Content;
}
export type Kind = Described<Section, object>;

type Defaulted = 'noun' | 'list' | 'fixed';
type Given<S extends Section, View> = Omit<Described<S, View>, Defaulted> &
  Partial<Pick<Kind, Defaulted>>;

const EDITABLE = { fields: [], isReplaced: false };

/** Adds the defaults, and erases the types of a kind. Callers must pass it only records of its section and its path. */
const describe = <S extends Section, View>(given: Given<S, View>): Kind =>
  ({ noun: given.kind, list: given.section, fixed: EDITABLE, ...given }) as unknown as Kind;

const nameOf = ({ name }: Content): string => String(name);
const nameOfAnyCase = (content: Content): string => nameOf(content).toLowerCase();
/** A rule has no name, so its content is its identity. */
const sayingOf = (content: Content): string => canonical({ ...content, description: undefined });
const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();
const orAbsent = <T extends object>(value: T | undefined | null): T | undefined =>
  value && Object.keys(value).length > 0 ? value : undefined;

type Subject = z.infer<typeof RuleViewSchema>['subject'] | RecordOf<'rules'>['subject'];
const subjectOf = (subject: Subject, names: Names): Content =>
  subject.kind === 'principal'
    ? { kind: subject.kind, name: names.principal('id' in subject ? subject.id : subject.name) }
    : subject;

/** Drops absent members of a toolset; empty lists stay. */
const toolsetOf = (
  name: string,
  { members, ...toolset }: RecordOf<'toolsets'> | Omit<z.infer<typeof ToolsetViewSchema>, 'name'>,
  names: Names,
): Content =>
  compact({
    name,
    description: toolset.description,
    include: toolset.include.map(pattern => spellPattern(pattern, names)),
    exclude: toolset.exclude.map(pattern => spellPattern(pattern, names)),
    overrides: toolset.overrides.map(({ server, ...override }) =>
      compact({ server: names.server(server), ...override }),
    ),
    name_style: toolset.name_style,
    tools: toolset.tools,
    members: members && {
      principals: sorted(members.principals.map(each => names.principal(each))),
      groups: sorted(members.groups),
    },
  });

export const KINDS: readonly Kind[] = [
  describe<'secrets', z.infer<typeof SecretViewSchema> & { value: string }>({
    kind: 'secret',
    section: 'secrets',
    path: '/api/v1/secrets',
    hasOneOfEach: true,
    identityOf: nameOf,
    ofFile: (name, { value, origins }) => ({ name, value, origins: sorted(origins.map(toOrigin)) }),
    ofView: ({ name, value, origins }) => ({ name, value, origins: sorted(origins) }),
  }),
  describe<'connectors', ConnectorView>({
    kind: 'connector',
    section: 'connectors',
    path: '/api/v1/connectors',
    fixed: { fields: ['name'], isReplaced: false },
    hasOneOfEach: true,
    identityOf: nameOfAnyCase,
    ofFile: name => ({ name }),
    ofView: ({ name }) => ({ name }),
  }),
  describe<'servers', ServerView>({
    kind: 'server',
    section: 'servers',
    path: '/api/v1/aggregator/servers',
    fixed: {
      fields: ['connection_config.connector', 'connection_config.server'],
      isReplaced: false,
    },
    hasOneOfEach: true,
    identityOf: nameOfAnyCase,
    ofFile(name, { connection_config: config, health_check: health, ...server }, names) {
      const place =
        'url' in config
          ? { ...config, headers: orAbsent(config.headers) }
          : { connector: names.connector(config.connector), server: config.server };
      return compact({
        name,
        ...server,
        connection_config: compact(place as Content),
        health_check: orAbsent(health),
      });
    },
    ofView(view, names) {
      const { url, headers, auth, connector, server } = view.connection_config;
      const place =
        connector === undefined
          ? { url, headers: orAbsent(headers), auth }
          : { connector: names.connectorOf(connector), server };
      return compact({
        name: view.name,
        description: view.description,
        transport_type: view.transport_type,
        connection_config: compact(place as Content),
        auto_connect: view.auto_connect,
        health_check_url: view.health_check_url,
        health_check: orAbsent(view.health_check),
        tool_approval: view.tool_approval,
        accounts: view.accounts,
      });
    },
  }),
  describe<'principals', z.infer<typeof PrincipalViewSchema>>({
    kind: 'principal',
    section: 'principals',
    path: '/api/v1/principals',
    hasOneOfEach: false,
    identityOf: nameOf,
    ofFile: (key, { name = key, groups, scopes }) => ({
      name,
      groups: sorted(groups),
      scopes: scopes && sorted(scopes),
    }),
    ofView: ({ name, groups, scopes }) => ({
      name,
      groups: sorted(groups),
      scopes: scopes && sorted(scopes),
    }),
  }),
  describe<'rules', z.infer<typeof RuleViewSchema>>({
    kind: 'rule',
    section: 'rules',
    path: '/api/v1/access/rules',
    hasOneOfEach: false,
    identityOf: sayingOf,
    ofFile: (_key, { server, subject, ...rule }, names) => ({
      ...rule,
      subject: subjectOf(subject, names),
      server: names.server(server),
    }),
    ofView: ({ effect, subject, server, tool, read_only, description }, names) => ({
      effect,
      subject: subjectOf(subject, names),
      server,
      tool,
      read_only,
      description,
    }),
  }),
  describe<'budgets', z.infer<typeof BudgetViewSchema>>({
    kind: 'budget',
    section: 'budgets',
    path: '/api/v1/budgets',
    fixed: { fields: ['subject'], isReplaced: true },
    hasOneOfEach: true,
    identityOf: ({ subject }) => canonical(subject),
    ofFile: (_key, { subject, calls_per_day }, names) => ({
      subject: subjectOf(subject, names),
      calls_per_day,
    }),
    ofView: ({ subject, calls_per_day }, names) => ({
      subject: subjectOf(subject, names),
      calls_per_day,
    }),
  }),
  describe<'toolsets', z.infer<typeof ToolsetViewSchema>>({
    kind: 'toolset',
    section: 'toolsets',
    path: '/api/v1/toolsets',
    hasOneOfEach: true,
    identityOf: nameOfAnyCase,
    ofFile: (name, toolset, names) => toolsetOf(name, toolset, names),
    ofView: ({ name, ...toolset }, names) => toolsetOf(name, toolset, names),
  }),
  describe<'cache_rules', z.infer<typeof CacheRuleViewSchema>>({
    kind: 'cache_rule',
    section: 'cache_rules',
    noun: 'cache rule',
    path: '/api/v1/cache/rules',
    list: 'rules',
    fixed: { fields: ['server', 'tool'], isReplaced: true },
    hasOneOfEach: true,
    identityOf: ({ server, tool }) => canonical([server, tool] as string[]),
    ofFile: (_key, { server, ...rule }, names) => ({ ...rule, server: names.server(server) }),
    ofView: ({ server, tool, ttl_seconds, public: isPublic, description }) => ({
      server,
      tool,
      ttl_seconds,
      public: isPublic,
      description,
    }),
  }),
  describe<'ask_allowlist', z.infer<typeof EntryViewSchema>>({
    kind: 'ask_allowlist',
    section: 'ask_allowlist',
    noun: 'entry',
    path: '/api/v1/ask/allowlist',
    list: 'entries',
    fixed: {
      fields: ['subject', 'server', 'tool', 'side_effects', 'description'],
      isReplaced: true,
    },
    hasOneOfEach: false,
    identityOf: sayingOf,
    ofFile: (_key, { server, subject, ...entry }, names) => ({
      ...entry,
      subject: subjectOf(subject, names),
      server: names.server(server),
    }),
    ofView: ({ subject, server, tool, side_effects, description }, names) => ({
      subject: subjectOf(subject, names),
      server,
      tool,
      side_effects,
      description,
    }),
  }),
];

const BY_KIND = new Map(KINDS.map(each => [each.kind, each]));

/** @throws Error for an unknown kind */
export function kindOf(name: OwnedKind): Kind {
  const found = BY_KIND.get(name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}

/** The records of a file, kind by kind. */
export const wantedOf = (file: Configuration, names: Names): Wanted[] =>
  KINDS.flatMap(({ kind, section, ofFile }) =>
    Object.entries(file[section] ?? {}).map(([key, record]) => ({
      kind,
      key,
      content: ofFile(key, record as never, names),
    })),
  );

/** An origin in the gateway's form; text that is not one is passed on, and the gateway refuses it. */
const toOrigin = (text: string): string => URL.parse(text)?.origin ?? text;
