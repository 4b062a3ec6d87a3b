/** `portico apply` and `portico diff`: read the file and the gateway, print the plan, and carry it out. */
import { setTimeout as wait } from 'node:timers/promises';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, type ApiOptions } from '../gateway/api-command.ts';
import { readInput } from '../input.ts';
import { visible } from '../output/table.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { carryOut, type Outcome } from './carry-out.ts';
import { checkReferences, type Present } from './check-references.ts';
import type { Known } from './content.ts';
import { kindOf, wantedOf } from './kinds.ts';
import { makePlan, type Change, type Plan } from './plan.ts';
import { printPlan } from './print-plan.ts';
import {
  inOrder,
  readConfiguration,
  toProblem,
  type FileProblem,
  type LineOf,
  type ReadFile,
} from './read-file.ts';
import { readGateway, requireAllKinds } from './read-gateway.ts';
import { readValues } from './read-values.ts';

export interface FileOptions extends ApiOptions {
  file: string;
  prune?: boolean;
  adopt?: boolean;
}

/** Plans, and makes the changes unless it is a dry run. @throws Failure */
export async function applyFile(options: FileOptions & { dryRun?: boolean }): Promise<void> {
  const planned = await planFile(options);
  const { plan, known, api, owner, values, lineOf } = planned;
  if (options.dryRun) return showPlan(options, planned);
  if (!options.json) await writeOut(printPlan(plan, known));
  const onDone = ({ change, problem }: Outcome) => {
    if (problem === undefined || options.json) return;
    note(visible(`${options.file}:${lineOf(pathOf(change))}: ${titleOf(change)}: ${problem}`));
  };
  const outcomes = await carryOut(plan.changes, { api, owner, values, known, wait, onDone });
  const failed = outcomes.filter(({ problem }) => problem !== undefined);
  if (options.json) {
    const problemOf = (change: Change) => outcomes.find(each => each.change === change)?.problem;
    await writeJson(toJson(planned, change => ({ problem: problemOf(change) })));
  }
  if (failed.length > 0) {
    const what = `${failed.length} of ${outcomes.length} changes were not made`;
    throw new Failure(`${what}; fix this and apply again`);
  }
  if (!options.json && outcomes.length > 0) note('done');
}

/** Shows what an apply would change. @throws Failure where that is anything */
export async function diffFile(options: FileOptions): Promise<void> {
  const planned = await planFile(options);
  await showPlan(options, planned);
  if (planned.plan.changes.length > 0) throw new Failure('the gateway differs from the file');
}

interface Planned {
  api: ReturnType<typeof apiOf>;
  owner: string;
  plan: Plan;
  known: readonly Known[];
  values: ReadonlyMap<string, string>;
  lineOf: LineOf;
}

const showPlan = ({ json }: FileOptions, planned: Planned): Promise<void> =>
  json ? writeJson(toJson(planned)) : writeOut(printPlan(planned.plan, planned.known));

/** @throws Failure where the file has problems; each is printed before */
async function planFile(options: FileOptions): Promise<Planned> {
  const { file: path, prune, adopt } = options;
  const api = apiOf(options);
  const read = readConfiguration(await readInput(path));
  const { configuration: file, lineOf } = read;
  if (!file) return refuse(options, read.problems);
  const { valueOf: values, problems: missing } = readValues(file, path, process.env, lineOf);
  await requireAllKinds(api);
  const { names, known, present } = await readGateway(api, file, values);
  const plan = makePlan(wantedOf(file, names), known, { owner: file.owner, prune, adopt });
  const problems = [
    ...missing,
    ...checkReferences(file, withoutDeleted(present, plan)).map(({ path: at, message }) =>
      toProblem(lineOf, at, message),
    ),
    ...plan.problems.map(({ kind, key, message }) =>
      toProblem(lineOf, [kindOf(kind).section, key], message),
    ),
  ];
  if (problems.length > 0) return refuse(options, problems);
  return { api, owner: file.owner, plan, known, values, lineOf };
}

/** The gateway's records that remain after the plan's deletions. */
function withoutDeleted(
  { secrets, connectors, servers, principals }: Present,
  plan: Plan,
): Present {
  const deleted = (kind: string) =>
    new Set(
      plan.changes.flatMap(({ verb, kind: other, before }) =>
        verb === 'delete' && kind === other && before ? [String(before.content['name'])] : [],
      ),
    );
  const [noSecrets, noConnectors, noServers] = ['secret', 'connector', 'server'].map(deleted);
  const gone = new Set(
    plan.changes.flatMap(({ verb, before }) => (verb === 'delete' && before ? before.id : [])),
  );
  return {
    secrets: secrets.filter(name => !noSecrets?.has(name)),
    connectors: connectors.filter(name => !noConnectors?.has(name)),
    servers: servers.filter(({ name }) => !noServers?.has(name)),
    principals: principals.filter(({ id }) => !gone.has(id)),
  };
}

/** Reports every problem with its line. @throws Failure */
async function refuse({ file, json }: FileOptions, found: ReadFile['problems']): Promise<never> {
  const problems: FileProblem[] = inOrder(found);
  if (json) await writeJson({ problems });
  else for (const { line, message } of problems) note(visible(`${file}:${line}: ${message}`));
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new Failure(`${count} in ${file}; nothing is changed`, EXIT.usage);
}

const pathOf = ({ kind, key }: Change) => [kindOf(kind).section, key];
const titleOf = ({ kind, key }: Change) => `${kindOf(kind).noun} ${key}`;

const toJson = ({ owner, plan }: Planned, more: (change: Change) => object = () => ({})) => ({
  owner,
  changes: plan.changes.map(change => ({
    verb: change.verb,
    kind: change.kind,
    key: change.key,
    ...(change.before ? { id: change.before.id } : {}),
    differences: change.differences,
    ...more(change),
  })),
  left: plan.left.map(({ kind, id, owner: mark }) => ({ kind, id, key: mark?.key })),
});
