/**
 * The configuration file (OPS-6): the records of a gateway as a file holds them. Built from the API's schemas, with three differences: a
 * record's name or key is the member name before it, principals are referred to by their names in the file, and the file holds no secrets.
 * Pure.
 */
import { z } from 'zod';
import { CreateBudgetSchema } from '../access/budgets/budget-schema.ts';
import { CreatePrincipalSchema } from '../access/principals/principal-schema.ts';
import { SubjectSchema } from '../access/policy/rule.ts';
import { ToolsetNameSchema } from '../access/policy/toolset.ts';
import { CreateRuleSchema } from '../access/rules/rule-schema.ts';
import { CreateToolsetSchema } from '../access/toolsets/toolset-schema.ts';
import { CreateEntrySchema, isExactEnough, NOT_EXACT } from '../agents/ask/allowlist-schema.ts';
import { AuthSchema, HeadersSchema } from '../credentials/credential-schema.ts';
import { showReferences } from '../credentials/references.ts';
import { PutSecretSchema, SecretNameSchema } from '../credentials/secret-schema.ts';
import { CreateCacheRuleSchema } from '../servers/cache-rules/cache-rule-schema.ts';
import { CreateConnectorSchema } from '../servers/connectors/connector-schema.ts';
import {
  CreateServerSchema,
  CreateStdioServerSchema,
  NetworkTransportSchema,
} from '../servers/registry/server-schema.ts';
import { OwnerSchema } from '../shared/identity/record-owner.ts';

/** Where to find the value of a secret: `${env:NAME}` or `${file:PATH}`. */
export const VALUE_REFERENCE = /^\$\{(env|file):([^{}]{1,1000})\}$/;

const NO_VALUE =
  'the file cannot contain a value; refer to a secret, like ${NAME} or Bearer ${NAME}';
const IN_CREDENTIALS = ['token', 'client_id', 'client_secret'];

/** Refuses values that the gateway would not show again, since no plan could compare them. */
function refuseValues(texts: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || showReferences(text) !== null) continue;
    context.addIssue({ code: 'custom', path: [name], message: NO_VALUE });
  }
}

const HeadersOfFile = HeadersSchema.superRefine(refuseValues);
const AuthOfFile = AuthSchema.superRefine((auth, context) => {
  const texts = Object.entries(auth).filter(([name]) => IN_CREDENTIALS.includes(name));
  refuseValues(Object.fromEntries(texts), context);
});

const { connection_config, name: ServerNameSchema, ...network } = CreateServerSchema.shape;
const { name: _name, ...program } = CreateStdioServerSchema.shape;
const ServerOfFile = z.discriminatedUnion(
  'transport_type',
  [
    z.strictObject({
      ...network,
      // The transport under the name that the gateway shows, so that a plan can compare it.
      transport_type: NetworkTransportSchema,
      connection_config: z.strictObject({
        ...connection_config.shape,
        headers: HeadersOfFile.optional(),
        auth: AuthOfFile.optional(),
      }),
    }),
    z.strictObject({
      ...program,
      connection_config: z.strictObject(program.connection_config.shape),
    }),
  ],
  { error: 'use HTTP, SSE or STDIO' },
);

const [EveryoneSchema, GroupSubjectSchema] = SubjectSchema.options;
const { name: PrincipalNameSchema, ...principal } = CreatePrincipalSchema.shape;
const PrincipalSubjectOfFile = z.strictObject({
  kind: z.literal('principal'),
  name: PrincipalNameSchema.meta({
    description: 'Its name in the file; for any other principal its name or id',
  }),
});
const SubjectOfFile = z.discriminatedUnion(
  'kind',
  [EveryoneSchema, GroupSubjectSchema, PrincipalSubjectOfFile],
  { error: 'use everyone, group or principal' },
);
const BudgetSubjectOfFile = z.discriminatedUnion(
  'kind',
  [GroupSubjectSchema, PrincipalSubjectOfFile],
  { error: 'use group or principal' },
);

const { name: _toolsetName, members, ...toolset } = CreateToolsetSchema.shape;
const MembersOfFile = z.strictObject({
  principals: z.array(PrincipalNameSchema).max(1000).default([]),
  groups: members.unwrap().shape.groups,
});

/** The file's key for a record that has no name of its own. */
const KeySchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'use 1 to 100 letters, digits, ".", "-" or "_"');

const section = <K extends z.ZodType<string, string>, R extends z.ZodType>(
  key: K,
  record: R,
  description: string,
) => z.record(key, record).optional().meta({ description });

export const ConfigurationSchema = z.strictObject({
  owner: OwnerSchema.shape.owner.default('portico').meta({
    description: 'Marks the records of this file; each file needs an owner of its own',
  }),
  secrets: section(
    SecretNameSchema,
    z.strictObject({
      value: z
        .string()
        .regex(VALUE_REFERENCE, 'write where the value is: ${env:NAME} or ${file:PATH}')
        .meta({ description: 'Where the value is: ${env:NAME} or ${file:PATH}' }),
      origins: PutSecretSchema.shape.origins,
    }),
    'Values that credentials of servers refer to',
  ),
  connectors: section(
    CreateConnectorSchema.shape.name,
    z.strictObject({}),
    'Machines that offer programs; each gets its token by portico connect --enroll NAME --replace',
  ),
  servers: section(ServerNameSchema, ServerOfFile, 'MCP servers by name'),
  principals: section(
    PrincipalNameSchema,
    z.strictObject({
      name: PrincipalNameSchema.optional().meta({
        description: 'Its name, if it differs from its key in the file',
      }),
      ...principal,
    }),
    'Who calls: people and programs, with their groups',
  ),
  rules: section(
    KeySchema,
    z.strictObject({ ...CreateRuleSchema.shape, subject: SubjectOfFile }),
    'Who may use what',
  ),
  budgets: section(
    KeySchema,
    z.strictObject({ ...CreateBudgetSchema.shape, subject: BudgetSubjectOfFile }),
    'How many calls a principal, or a group together, may make in a day',
  ),
  toolsets: section(
    ToolsetNameSchema,
    z.strictObject({ ...toolset, members: MembersOfFile.optional() }),
    'Selections of tools with an endpoint of their own',
  ),
  cache_rules: section(KeySchema, CreateCacheRuleSchema, 'Which results may be cached'),
  ask_allowlist: section(
    KeySchema,
    z
      .strictObject({
        ...CreateEntrySchema.shape,
        subject: SubjectOfFile.default({ kind: 'everyone' }),
      })
      .refine(isExactEnough, NOT_EXACT),
    'Which tools ask may call',
  ),
});
export type Configuration = z.infer<typeof ConfigurationSchema>;

/** Path of the JSON Schema for editors. */
export const SCHEMA_PATH = '/schema/portico.json';

/** Returns the JSON Schema of the file, for editors. */
export const toJsonSchema = (): object => ({
  ...z.toJSONSchema(ConfigurationSchema, { io: 'input', target: 'draft-7' }),
  title: 'Configuration of a Portico gateway',
});
