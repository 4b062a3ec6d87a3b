/**
 * Plans an import before anything is written: for each entry of a file its name here; whether it is created, edited or skipped; its
 * problems by field; and the secrets that would be stored. Pure. Values of secrets are in the plan, but in nothing that is reported about
 * it.
 */
import type { FieldProblem } from '../../shared/errors/portico-error.ts';
import { decideAddress } from '../../http/address-policy.ts';
import { assignNames } from './import-names.ts';
import { takeSecrets, type NewSecret } from './import-secrets.ts';
import type { McpEntry, RemoteEntry } from './mcp-entry.ts';
import { fillAddress, fillHeader } from './placeholders.ts';
import { CreateServerSchema, type CreateServer, type Server } from '../registry/server-schema.ts';

export const CONFLICT_RULES = ['skip', 'update', 'fail'] as const;
export type ConflictRule = (typeof CONFLICT_RULES)[number];

export type ImportAction = 'create' | 'update' | 'skip' | 'unsupported' | 'invalid' | 'failed';

export interface PlannedEntry {
  /** The entry's name in the file, and its place there. */
  givenName: string;
  path: string;
  /** Its name in the registry. */
  name: string;
  action: ImportAction;
  /** Why it is not created as the file has it, or not at all. */
  reasons: string[];
  problems: FieldProblem[];
  secrets: NewSecret[];
  /** The server to create or the edit to make; absent if there is none. */
  input?: CreateServer;
  /** The fields that the file names; the others of `input` are defaults. */
  named?: ReadonlySet<string>;
  /** The server that already has the name. */
  existing?: Server;
  /** The only problem is that the name is taken. */
  isTaken?: true;
  /** Places of url and headers in the file. */
  fields: { url: string; headers: string };
}

export interface PlanContext {
  /** Finds a server by name, ignoring case. */
  find(name: string): Server | undefined;
  onConflict: ConflictRule;
  allowsLoopback: boolean;
  /** Whether a secret of this name may be created, or replaced for this server. */
  isFree(secret: string, server: Server | undefined): boolean;
}

/** Plans every entry of a file, in its order. */
export function planImport(entries: readonly McpEntry[], context: PlanContext): PlannedEntry[] {
  const names = assignNames(entries.map(({ name }) => name));
  const taken = new Set<string>();
  return entries.map((entry, index) => {
    const planned = plan(entry, names[index] ?? entry.name, context);
    const { input, existing } = planned;
    if (!input || (planned.action !== 'create' && planned.action !== 'update')) return planned;
    // If the server moves to another origin, a reused secret would have to be allowed at both, so it is not reused.
    const owner = existing && isSameOrigin(existing, input) ? existing : undefined;
    const isFree = (name: string) => !taken.has(name) && context.isFree(name, owner);
    const { headers, secrets } = takeSecrets(planned.name, input.connection_config, isFree);
    for (const { name } of secrets) taken.add(name);
    const connection_config = { ...input.connection_config, ...headers };
    return { ...planned, secrets, input: { ...input, connection_config } };
  });
}

const isSameOrigin = ({ url }: Server, { connection_config: config }: CreateServer) =>
  new URL(url).origin === new URL(config.url).origin;

function plan(entry: McpEntry, name: string, context: PlanContext): PlannedEntry {
  const existing = context.find(name);
  const isRenamed = name !== entry.name && entry.kind !== 'broken';
  const planned: PlannedEntry = {
    givenName: entry.name,
    path: entry.path,
    name,
    action: 'create',
    reasons: isRenamed ? ['its name is not valid here, or another entry or server has it'] : [],
    problems: [],
    secrets: [],
    ...(existing ? { existing } : {}),
    fields: { url: `${entry.path}.url`, headers: `${entry.path}.headers` },
  };
  switch (entry.kind) {
    case 'broken':
      return { ...planned, action: 'invalid', problems: entry.problems };
    case 'stdio':
      return unsupported(planned);
    case 'record': {
      const fields = {
        url: `${entry.path}.connection_config.url`,
        headers: `${entry.path}.connection_config.headers`,
      };
      if (entry.record['transport_type'] === 'STDIO') return unsupported(planned);
      return judge({ ...planned, fields }, { ...entry.record, name }, context);
    }
    case 'remote': {
      const filled = fillEntry(entry, name);
      const from = { ...planned, fields: entry.fields };
      if (filled.problems.length === 0) return judge(from, filled.record, context);
      return { ...from, action: 'invalid', problems: filled.problems };
    }
  }
}

const unsupported = (planned: PlannedEntry): PlannedEntry => ({
  ...planned,
  action: 'unsupported',
  reasons: [...planned.reasons, 'it is a program, which needs a connector on its machine'],
});

/** Converts a remote entry to the registry's form, with its placeholders filled. */
function fillEntry(entry: RemoteEntry, name: string): { record: object; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const take = (field: string, filled: ReturnType<typeof fillHeader>): string => {
    if ('text' in filled) return filled.text;
    problems.push({ field, message: filled.problem });
    return '';
  };
  const url = take(entry.fields.url, fillAddress(entry.url));
  const headers = Object.entries(entry.headers).map(([header, value]): [string, string] => [
    header,
    take(`${entry.fields.headers}.${header}`, fillHeader(value)),
  ]);
  const record = {
    name,
    transport_type: entry.transportType,
    connection_config: {
      url,
      ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    },
    ...(entry.description === undefined ? {} : { description: entry.description.slice(0, 2000) }),
    ...(entry.isDisabled ? { auto_connect: false } : {}),
  };
  return { record, problems };
}

/** Validates a record as its registration would, except for the checks that need the database. */
function judge(planned: PlannedEntry, record: object, context: PlanContext): PlannedEntry {
  const parsed = CreateServerSchema.safeParse(record);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => {
      return { field: toFileField(planned, path.join('.')), message };
    });
    return { ...planned, action: 'invalid', problems };
  }
  const input = parsed.data;
  const addresses = {
    'connection_config.url': input.connection_config.url,
    health_check_url: input.health_check_url,
  };
  const problems = Object.entries(addresses).flatMap(([field, address]) => {
    const decision = address === undefined || decideAddress(address, context.allowsLoopback);
    if (decision === true || decision.allowed) return [];
    return [{ field: toFileField(planned, field), message: decision.reason }];
  });
  if (problems.length > 0) return { ...planned, action: 'invalid', problems };
  const named = new Set(Object.keys(record));
  return resolveConflict({ ...planned, input, named }, context.onConflict);
}

function resolveConflict(planned: PlannedEntry, rule: ConflictRule): PlannedEntry {
  if (!planned.existing) return planned;
  const reason = `there is a server named ${planned.existing.name}`;
  if (rule === 'fail') {
    const problems = [{ field: planned.path, message: reason }];
    return { ...planned, action: 'invalid', problems, isTaken: true };
  }
  if (rule === 'update' && planned.existing.transportType === 'STDIO') {
    const message = `${reason}, which is a program on the machine of its connector; use another name`;
    return { ...planned, action: 'invalid', problems: [{ field: planned.path, message }] };
  }
  return { ...planned, action: rule, reasons: [...planned.reasons, reason] };
}

/** Translates a field of the registry's form to its place in the file. */
export function toFileField({ path, fields }: PlannedEntry, field: string): string {
  if (field === 'connection_config.url') return fields.url;
  if (field.startsWith('connection_config.headers')) {
    return fields.headers + field.slice('connection_config.headers'.length);
  }
  return field === '' ? path : `${path}.${field}`;
}
