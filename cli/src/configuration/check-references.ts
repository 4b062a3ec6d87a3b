/** Checks that everything a file refers to exists, in the file or at the gateway. Pure. */
import type { Configuration } from '../../../src/api/configuration-file.ts';
import { namesIn } from '../../../src/credentials/references.ts';
import type { FilePath } from './read-file.ts';

/** Records of the gateway that remain after the apply. */
export interface Present {
  secrets: readonly string[];
  connectors: readonly string[];
  servers: readonly { id: string; name: string }[];
  principals: readonly { id: string; name: string }[];
}
export const NOTHING: Present = { secrets: [], connectors: [], servers: [], principals: [] };

export interface ReferenceProblem {
  path: FilePath;
  message: string;
}

export function checkReferences(file: Configuration, present: Present): ReferenceProblem[] {
  const low = (texts: readonly string[]) => texts.map(text => text.toLowerCase());
  const keys = (section: object | undefined) => Object.keys(section ?? {});
  const secrets = new Set([...keys(file.secrets), ...present.secrets]);
  const connectors = new Set(low([...keys(file.connectors), ...present.connectors]));
  const servers = new Set([
    ...low([...keys(file.servers), ...present.servers.map(({ name }) => name)]),
    ...present.servers.map(({ id }) => id),
  ]);
  const named = Map.groupBy(present.principals, ({ name }) => name);
  const problems: ReferenceProblem[] = [];
  const refuse = (path: FilePath, message: string) => void problems.push({ path, message });

  const checkServer = (path: FilePath, pattern: string) => {
    const server = pattern.split('.')[0] ?? '';
    if (server.includes('*') || servers.has(server.toLowerCase())) return;
    refuse(path, `there is no server ${server}`);
  };
  const checkPrincipal = (path: FilePath, name: string) => {
    if (file.principals && Object.hasOwn(file.principals, name)) return;
    const count = named.get(name)?.length ?? 0;
    if (count === 1 || present.principals.some(({ id }) => id === name)) return;
    const several = `several principals are called ${name}; write an id`;
    refuse(path, count > 1 ? several : `there is no principal ${name}`);
  };
  const checkTexts = (path: FilePath, texts: object | undefined) => {
    for (const [name, text] of Object.entries(texts ?? {})) {
      for (const secret of typeof text === 'string' ? (namesIn(text) ?? []) : []) {
        if (!secrets.has(secret)) refuse([...path, name], `there is no secret ${secret}`);
      }
    }
  };

  for (const section of ['servers', 'toolsets', 'connectors'] as const) {
    for (const twin of twinsOf(keys(file[section]))) {
      refuse([section, twin], 'duplicate name (differs only in case)');
    }
  }
  for (const [name, { connection_config: config }] of Object.entries(file.servers ?? {})) {
    const path = ['servers', name, 'connection_config'];
    if ('url' in config) {
      checkTexts([...path, 'headers'], config.headers);
      checkTexts([...path, 'auth'], config.auth);
    } else if (!connectors.has(config.connector.toLowerCase())) {
      refuse([...path, 'connector'], `there is no connector ${config.connector}`);
    }
  }
  for (const section of ['rules', 'budgets', 'cache_rules', 'ask_allowlist'] as const) {
    for (const [key, rule] of Object.entries(file[section] ?? {})) {
      if ('server' in rule) checkServer([section, key, 'server'], rule.server);
      if (!('subject' in rule) || rule.subject.kind !== 'principal') continue;
      checkPrincipal([section, key, 'subject', 'name'], rule.subject.name);
    }
  }
  const cached = Object.entries(file.cache_rules ?? {}).map(
    ([key, { server, tool }]) => [key, JSON.stringify([server.toLowerCase(), tool])] as const,
  );
  for (const [key] of twinsBy(cached, ([, said]) => said)) {
    refuse(['cache_rules', key], 'duplicate: another cache rule is for the same tools');
  }
  const limited = Object.entries(file.budgets ?? {}).map(
    ([key, { subject }]) => [key, JSON.stringify([subject.kind, subject.name])] as const,
  );
  for (const [key] of twinsBy(limited, ([, said]) => said)) {
    refuse(['budgets', key], 'duplicate: another budget has the same subject');
  }
  for (const [name, toolset] of Object.entries(file.toolsets ?? {})) {
    const path = ['toolsets', name];
    for (const list of ['include', 'exclude'] as const) {
      toolset[list].forEach((pattern, at) => checkServer([...path, list, at], pattern));
    }
    toolset.overrides.forEach(({ server }, at) =>
      checkServer([...path, 'overrides', at, 'server'], server),
    );
    toolset.members?.principals.forEach((principal, at) =>
      checkPrincipal([...path, 'members', 'principals', at], principal),
    );
  }
  return problems;
}

/** All but the first of each group of equals. */
const twinsBy = <T>(items: readonly T[], by: (item: T) => string): T[] =>
  [...Map.groupBy(items, by).values()].flatMap(same => same.slice(1));

const twinsOf = (names: readonly string[]): string[] => twinsBy(names, name => name.toLowerCase());
